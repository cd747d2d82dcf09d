/** IndexedDB storages as subjects of the conformance suite. */
import type { Subject } from "@sessions/conformance"
import { createIndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { deleteDB } from "idb"
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
    faults: {
      quota: (database) => inject(database, "quota"),
      requestLost: (database) => inject(database, "requestLost"),
      responseLost: (database) => inject(database, "responseLost"),
    },
  }
}
