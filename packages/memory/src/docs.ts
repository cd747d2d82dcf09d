import { type DocumentAdapter, parseDocKey } from "@sessions/core/storage"
import type { MemoryLocation } from "./location.ts"

export function createMemoryDocs({ docs }: MemoryLocation): DocumentAdapter {
  return {
    get: (key) => docs.get(key),

    compareAndSet(key, from, to) {
      if ((docs.get(key) ?? null) !== from) return false
      if (to === null) docs.delete(key)
      else docs.set(key, to)
      return true
    },

    async *list(prefix) {
      yield [...docs.keys()].filter((key) => key.startsWith(prefix)).toSorted()
    },
  }
}

/** Removes the documents that go with a session. */
export function deleteDocsOf({ docs }: MemoryLocation, session: string): void {
  for (const key of docs.keys()) {
    if (parseDocKey(key).session === session) docs.delete(key)
  }
}
