import { createIndexedDbStorage, type IndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { deleteDB } from "idb"
import { onTestFinished } from "vitest"

let made = 0

/** A name for a database of this test's own. */
export function newDatabase(): string {
  const name = `test-${Date.now().toString(36)}-own-${made++}`
  onTestFinished(() => deleteDB(name))
  return name
}

/** A storage that is disposed of when the test has ended. */
export function open(database: string, options: IndexedDbStorageOptions = {}): IndexedDbStorage {
  const storage = createIndexedDbStorage({ ...options, database })
  onTestFinished(async () => storage[Symbol.asyncDispose]())
  return storage
}

export async function readAll(storage: IndexedDbStorage, session: string): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session)) lines.push(...chunk.lines)
  return lines
}

/** The database as it lies there, for tests that look into it or damage it. */
export function raw<T>(database: string, stores: string[], work: (tx: IDBTransaction) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(database)
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const db = opening.result
      const tx = db.transaction(stores, "readwrite")
      const request = work(tx)
      tx.oncomplete = () => {
        db.close()
        resolve(request.result)
      }
      tx.onabort = () => reject(tx.error)
    }
  })
}

/** How many rows each store has. */
export async function counts(database: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const store of ["heads", "log", "staged", "docs", "blobs", "blobBytes"]) {
    found[store] = await raw(database, [store], (tx) => tx.objectStore(store).count())
  }
  return found
}
