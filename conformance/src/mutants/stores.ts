/** Mutants of documents and blobs. */
import { type BlobStore, type Doc, isSessionId } from "@sessions/core/storage"
import { collect, perLocation, purging } from "./sound-subjects.ts"
import { ids, type Mutant, mutant } from "./mutant.ts"

export const storesMutants: readonly Mutant[] = [
  mutant("keeps the documents of a deleted session", ["DELETE-02", "DELETE-06", "DELETE-07", "CREATE-08"], (real) => ({
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
  mutant(
    "has one version for all texts of one size",
    ["DOCS-03", "DOCS-04", "DOCS-05", "DOCS-06"],
    (real, location) => ({
      docs: {
        ...real.docs,
        async get(key, o) {
          const doc = await real.docs.get(key, o)
          return doc && { text: doc.text, version: String(doc.text.length) }
        },
        async put(key, text, o) {
          const stored = location.docs.get(key)
          const fits = stored !== undefined && o.expect === String(stored.length)
          await real.docs.put(key, text, fits ? { ...o, expect: `v:${stored}` } : o)
          return String(text.length)
        },
      },
    }),
  ),
  mutant("does not renew the time of a blob", ["BLOBS-05", "BLOBS-08"], (real, location) => ({
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
  mutant("deletes blobs of any age", ["BLOBS-07", "BLOBS-08"], (real) => ({
    blobs: {
      ...real.blobs,
      delete: (hash, o) => real.blobs.delete(hash, { ...(o?.signal !== undefined && { signal: o.signal }) }),
    },
  })),
  mutant("reads the caller's array after the call", ["BLOBS-11"], (real) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        await Promise.resolve()
        return real.blobs.put(bytes, o)
      },
    },
  })),
  blobs(
    "names blobs in capital letters",
    ids("OPEN 04 08, DELETE 08, BLOBS 01 02 04 05 06 07 08 09 10 11 12 13"),
    (real) => ({
      put: async (bytes, o) => (await real.put(bytes, o)).toUpperCase(),
    }),
  ),
  blobs("keeps blobs as text", ["BLOBS-02"], (real) => ({
    async get(hash, o) {
      const bytes = await real.get(hash, o)
      return bytes && new TextEncoder().encode(new TextDecoder().decode(bytes))
    },
  })),
  blobs("returns an empty blob for a missing one", ["BLOBS-03", "BLOBS-06"], (real) => ({
    get: async (hash, o) => (await real.get(hash, o)) ?? new Uint8Array(),
  })),
  mutant("lists a blob once per put", ["BLOBS-04"], (real, location) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        const hash = await real.blobs.put(bytes, o)
        putsOf(location).push(hash)
        return hash
      },
      async *list(o) {
        for await (const row of real.blobs.list(o)) {
          for (const hash of putsOf(location)) if (hash === row.hash) yield row
        }
      },
    },
  })),
  blobs("reports the delete of a missing blob as done", ["BLOBS-03", "BLOBS-06", "BLOBS-07", "BLOBS-08"], (real) => ({
    async delete(hash, o) {
      await real.delete(hash, o)
      return true
    },
  })),
  blobs("lists blobs without their size", ["BLOBS-04", "BLOBS-09"], (real) => ({
    async *list(o) {
      for await (const row of real.list(o)) yield { ...row, bytes: 0 }
    },
  })),
  blobs("takes anything for a hash", ["BLOBS-10"], (real) => ({
    has: async (hash, o) => HASH.test(hash) && real.has(hash, o),
    get: async (hash, o) => (HASH.test(hash) ? real.get(hash, o) : undefined),
  })),
  {
    subject: purging("keeps the `info` of a deleted session in its trash", {
      keep: (trash) => trash.map(({ info }) => ({ texts: [], info })),
    }),
    fails: ["DELETE-13"],
  },
  {
    subject: purging("reports a session as purged although its bytes could not be removed", { toPurged: () => true }),
    fails: ["DELETE-14"],
  },
  {
    subject: purging("does not remove what an earlier delete left when it is repeated", {
      keep: (trash, isRepeat) => (isRepeat ? trash : []),
    }),
    fails: ["DELETE-14"],
  },
  {
    subject: purging("removes only the last log that was deleted under an id", { keep: (trash) => trash.slice(0, -1) }),
    fails: ["DELETE-15"],
  },
  { subject: purging("keeps the bytes of removed blobs", { keepsBlobs: true }), fails: ["BLOBS-14"] },
  mutant("deletes blobs with a session", ["DELETE-08", "BLOBS-12"], (real, location) => ({
    async delete(session, o) {
      const deleted = await real.delete(session, o)
      location.blobs.clear()
      return deleted
    },
  })),
]

const HASH = /^[0-9a-f]{64}$/

const putsOf = perLocation((): string[] => [])

function blobs(name: string, fails: readonly string[], change: (real: BlobStore) => Partial<BlobStore>): Mutant {
  return mutant(name, fails, (real) => ({ blobs: { ...real.blobs, ...change(real.blobs) } }))
}
