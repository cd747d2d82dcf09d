/** IndexedDB storages as subjects of the conformance suite. */
import type { Subject } from "@sessions/conformance"
import { createIndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { deleteDB, openDB } from "idb"
import { inject } from "./faults.ts"

export const indexedDb: Subject<string> = createSubject("idb", {})
/** With small limits, so that the suite reaches them quickly. */
export const relaxed: Subject<string> = createSubject("idb relaxed", {
  durability: "relaxed",
  maxBatchBytes: 4_000_000,
})

let made = 0

function createSubject(name: string, options: IndexedDbStorageOptions): Subject<string> {
  return {
    name,
    makeLocation: () => `test-${Date.now().toString(36)}-${made++}`,
    open: (database) => createIndexedDbStorage({ ...options, database }),
    removeLocation: (database) => deleteDB(database),
    async corruptHead(database, session) {
      const db = await openDB(database)
      const head = (await db.get("heads", session)) as object
      await db.put("heads", { ...head, next: "damaged", updatedAt: null })
      db.close()
    },
    async contains(database, text) {
      const db = await openDB(database)
      const stored = await Promise.all([...db.objectStoreNames].map((name) => db.getAll(name)))
      db.close()
      const readable = (_: string, value: unknown): unknown =>
        value instanceof Uint8Array ? new TextDecoder().decode(value) : value
      return JSON.stringify(stored, readable).includes(text)
    },
    faults: {
      quota: (database) => inject(database, "quota"),
      requestLost: (database) => inject(database, "requestLost"),
      responseLost: (database) => inject(database, "responseLost"),
    },
  }
}
