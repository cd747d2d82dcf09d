/** On an IndexedDB in memory, also in Node. */
import { deleteDB, openDB } from "idb"
import { expect, onTestFinished, test, vi } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { databaseOf, UPGRADES } from "../src/schema.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

test("a call that gets the open database adds nothing to the opening, which would keep it as long as that is open", async () => {
  const connection = createConnection(databaseOf("connection"))
  onTestFinished(() => connection.close())
  const db = await connection.get()
  const then: unknown = Reflect.get(Promise.prototype, "then")
  let added = 0
  Reflect.set(Promise.prototype, "then", function (this: unknown, ...args: unknown[]): unknown {
    added++
    return Reflect.apply(then as () => unknown, this, args)
  })
  const again = await connection.get()
  Reflect.set(Promise.prototype, "then", then)
  expect(again).toBe(db)
  expect(added).toBe(0)
})

test("another program's database of the same name is `corrupt`, not a newer version of this program", async () => {
  const other = await openDB("of-others", UPGRADES.length + 5, { upgrade: (db) => void db.createObjectStore("notes") })
  other.close()
  const connection = createConnection(databaseOf("of-others"))
  await expect(connection.get()).rejects.toMatchObject({ code: "corrupt", storage: "indexeddb:of-others" })
  // It is not kept open.
  await deleteDB("of-others")
})

test("a database that the browser has deleted as damaged is `corrupt` once, not empty without a word", async () => {
  const open = indexedDB.open.bind(indexedDB)
  const spy = vi.spyOn(indexedDB, "open").mockImplementationOnce((...of) => {
    const request = open(...of)
    const loss = { dataLoss: "total", dataLossMessage: "IndexedDB (database was corrupt): checksum mismatch" }
    request.addEventListener("upgradeneeded", (event) => Object.assign(event, loss))
    return request
  })
  onTestFinished(() => spy.mockRestore())
  const connection = createConnection(databaseOf("damaged"))
  onTestFinished(() => connection.close())
  await expect(connection.get()).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringMatching(/checksum mismatch.*has deleted it.*from a copy/),
  })
  expect((await connection.get()).objectStoreNames).toContain("heads")
})

test("an opening behind a deletion that waits for another tab is `unavailable` in time, and goes on", async () => {
  const keeping = await openDB("kept", UPGRADES.length)
  const deleted = deleteDB("kept")
  const connection = createConnection({ ...databaseOf("kept"), openingMs: 20 })
  const first = connection.get().catch((error: unknown) => error)
  expect(await Promise.race([first, later()])).toMatchObject({ code: "unavailable" })
  keeping.close()
  await deleted
  const opens = (): Promise<boolean> =>
    connection.get().then(({ objectStoreNames }) => objectStoreNames.contains("heads"))
  await expect.poll(() => opens().catch(() => false)).toBe(true)
  await connection.close()
})

/** A test that waits for ever fails sooner. */
function later(): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("still waiting"), 5_000)
    onTestFinished(() => clearTimeout(timer))
  })
}
