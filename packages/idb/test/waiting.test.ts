/** Calls that another tab keeps waiting. On an IndexedDB in memory, also in Node. */
import { createIndexedDbStorage, type IndexedDbStorage } from "@sessions/idb"
import { expect, onTestFinished, test, vi } from "vitest"
import { newDatabase, readAll } from "./databases.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

/** A transaction of another tab that does not end before it is released. */
async function keepBusy(database: string): Promise<() => Promise<void>> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(database)
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
  const tx = db.transaction([...db.objectStoreNames], "readwrite")
  let isReleased = false
  onTestFinished(() => void (isReleased = true))
  const again = (): void => {
    if (!isReleased) tx.objectStore("meta").get("any").onsuccess = again
  }
  again()
  return () =>
    new Promise((resolve) => {
      tx.oncomplete = () => {
        db.close()
        resolve()
      }
      isReleased = true
    })
}

const CALLS: Readonly<Record<string, (storage: IndexedDbStorage) => Promise<unknown>>> = {
  "a read": (storage) => storage.head("a"),
  "a write": (storage) => storage.append("b", ["1"], { expect: 0 }),
  "a deletion": (storage) => storage.delete("a"),
}

for (const [name, call] of Object.entries(CALLS))
  test(`${name} that waits a minute for another tab's transaction is \`unavailable\`, changes nothing, and keeps no storage open`, async () => {
    const database = newDatabase()
    const storage = createIndexedDbStorage({ database })
    await storage.append("a", ["1"], { expect: 0 })
    const release = await keepBusy(database)
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const calling = call(storage).catch((error: unknown) => error)
    const closed = storage[Symbol.asyncDispose]()
    // The connection is open, so the call's own limit is the first timer.
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(60_000)
    expect(await calling).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("close this site's other tabs"),
    })
    await closed
    vi.useRealTimers()
    await release()
    const after = createIndexedDbStorage({ database })
    onTestFinished(() => after[Symbol.asyncDispose]())
    expect(await readAll(after, "a")).toEqual(["1"])
    expect(await after.head("b")).toBeUndefined()
  })
