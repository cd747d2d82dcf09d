import type { Subject } from "@sessions/conformance"
import { createIndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { deleteDB } from "idb"
import { armed } from "./faults.ts"

export const indexedDb: Subject<string> = createSubject("idb", {})
/** Small limits, so that they are tried at once. */
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
      quota: (database) => armed(database, "quota"),
      requestLost: (database) => armed(database, "requestLost"),
      responseLost: (database) => armed(database, "responseLost"),
    },
  }
}
