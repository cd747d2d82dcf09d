import type { Doc } from "@sessions/core/storage"
import { isSessionId } from "@sessions/core/storage"
import { collect } from "../variants.ts"
import type { Mutant } from "./mutant.ts"
import { mutant } from "./mutant.ts"

/** Wrong with documents and blobs. */
export const storesMutants: readonly Mutant[] = [
  mutant("leaves documents behind", ["DELETE-06", "DELETE-07"], (real) => ({
    async delete(session, o) {
      const kept: [string, Doc | undefined][] = []
      for (const key of isSessionId(session) ? await collect(real.docs.list(`sessions/${session}/`)) : []) {
        kept.push([key, await real.docs.get(key)])
      }
      const result = await real.delete(session, o)
      for (const [key, doc] of kept) await real.docs.put(key, doc?.text ?? "", { expect: null })
      return result
    },
  })),
  mutant("has one version for texts of one size", ["DOCS-04"], (real, location) => ({
    docs: {
      ...real.docs,
      async get(key, o) {
        const doc = await real.docs.get(key, o)
        return doc && { text: doc.text, version: String(doc.text.length) }
      },
      async put(key, text, o) {
        const stored = location.docs.get(key)
        const fits = stored !== undefined && o.expect === String(stored.text.length)
        await real.docs.put(key, text, fits ? { ...o, expect: stored.version } : o)
        return String(text.length)
      },
    },
  })),
  mutant("does not make a blob young again", ["BLOBS-05", "BLOBS-08"], (real, location) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        const before = new Map(location.blobs)
        const hash = await real.blobs.put(bytes, o)
        const old = before.get(hash)
        if (old !== undefined) location.blobs.set(hash, old)
        return hash
      },
    },
  })),
  mutant("deletes blobs whatever their age", ["BLOBS-07", "BLOBS-08"], (real) => ({
    blobs: {
      ...real.blobs,
      delete: (hash, o) => real.blobs.delete(hash, { ...(o?.signal !== undefined && { signal: o.signal }) }),
    },
  })),
  mutant("keeps the array that it was given", ["BLOBS-11"], (real) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        await Promise.resolve()
        return real.blobs.put(bytes, o)
      },
    },
  })),
]
