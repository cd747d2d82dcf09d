/** Databases for tests. */
import { createIndexedDbStorage, type IndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { deleteDB } from "idb"
import { onTestFinished } from "vitest"

let made = 0

/** A name for a new database, which is deleted after the test. */
export function newDatabase(): string {
  const name = `test-${Date.now().toString(36)}-own-${made++}`
  onTestFinished(() => deleteDB(name))
  return name
}

/** A storage that is disposed of after the test. */
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

/** Works on the database itself, for tests that inspect or damage it. */
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

/** The number of rows in each store. */
export async function counts(database: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const store of ["heads", "log", "staged", "docs", "blobs", "blobBytes"]) {
    found[store] = await raw(database, [store], (tx) => tx.objectStore(store).count())
  }
  return found
}
