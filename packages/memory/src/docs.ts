import type { CallOptions, DocStore } from "@sessions/core/storage"
import { checkDocText, parseDocKey, StorageError } from "@sessions/core/storage"
import type { MemoryLocation } from "./location.ts"

/** `enter` throws where the storage is closed or the signal has fired. */
export function createMemoryDocs(location: MemoryLocation, enter: (o: CallOptions | undefined) => void): DocStore {
  const { docs } = location
  return {
    async get(key, o) {
      enter(o)
      parseDocKey(key)
      return docs.get(key)
    },

    async put(key, text, o) {
      enter(o)
      parseDocKey(key)
      checkDocText(text)
      demandVersion(key, o.expect, docs.get(key)?.version ?? null)
      const version = versionOf(text)
      docs.set(key, { text, version })
      return version
    },

    async delete(key, o) {
      enter(o)
      parseDocKey(key)
      demandVersion(key, o.expect, docs.get(key)?.version ?? null)
      docs.delete(key)
    },

    async *list(prefix = "", o) {
      enter(o)
      for (const key of [...docs.keys()].toSorted()) {
        if (!key.startsWith(prefix)) continue
        enter(o)
        yield key
      }
    },
  }
}

/** Removes the documents that go with a session. */
export function deleteDocsOf(location: MemoryLocation, session: string): void {
  for (const key of location.docs.keys()) {
    if (parseDocKey(key).session === session) location.docs.delete(key)
  }
}

/**
 * The text itself, marked: exactly as equal as the texts are, and available where a page has no Web Crypto. The mark keeps a caller
 * that mistakes the text for its version from getting away with it here alone.
 */
function versionOf(text: string): string {
  return `v:${text}`
}

function demandVersion(key: string, expect: string | null | undefined, stored: string | null): void {
  if (expect === undefined) {
    throw new StorageError(
      "invalid",
      "A document is changed against `expect`: the version it follows, or null for none.",
    )
  }
  if (expect === stored) return
  const found = stored === null ? "is not there" : expect === null ? "is there already" : "has another version"
  throw new StorageError("conflict", `The document ${key} ${found}. Get it again.`, { storage: "memory", at: key })
}
