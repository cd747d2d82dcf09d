/** Problems with the database: each one is recovered from, or ends in an error that says what to do. */
import type { IndexedDbStorage } from "@sessions/idb"
import { deleteDB, type IDBPDatabase, openDB } from "idb"
import { expect, onTestFinished, test } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { databaseOf, STORES, UPGRADES } from "../src/schema.ts"
import { counts, newDatabase, open, raw, readAll } from "./databases.ts"

test("a database of a newer version is `unsupported`: reload the page", async () => {
  const database = newDatabase()
  const upgrade = (db: IDBPDatabase): void => {
    for (const name of STORES) db.createObjectStore(name)
  }
  const newer = await openDB(database, UPGRADES.length + 1, { upgrade })
  newer.close()
  const error = await rejection(open(database).head("a"))
  expect(error).toMatchObject({ code: "unsupported", storage: `indexeddb:${database}` })
  expect(error.message).toContain("newer version")
  expect(error.message).toContain("reload the page")
})

test.for([0, 1, 20])(
  "another program's database of the same name is `corrupt`, %i versions above ours too: choose another name",
  async (above) => {
    const database = newDatabase()
    const upgrade = (db: IDBPDatabase): void => void db.createObjectStore("notes")
    const other = await openDB(database, UPGRADES.length + above, { upgrade })
    other.close()
    const error = await rejection(open(database).append("a", ["{}"], { expect: 0 }))
    expect(error).toMatchObject({ code: "corrupt" })
    expect(error.message).toContain("`database` another name")
  },
)

test("if the browser stores nothing for the page, `unsupported` says what to allow", async () => {
  const database = newDatabase()
  const restore = replaceOpen(() => {
    throw new DOMException("The operation is insecure.", "SecurityError")
  })
  try {
    const error = await rejection(open(database).append("a", ["{}"], { expect: 0 }))
    expect(error).toMatchObject({ code: "unsupported" })
    expect(error.message).toContain("allow its site data")
  } finally {
    restore()
  }
})

test("the call after a failed opening tries again", async () => {
  const storage = open(newDatabase())
  const restore = replaceOpen(() => {
    throw new DOMException("not now", "UnknownError")
  })
  expect(await rejection(storage.head("a"))).toMatchObject({ code: "unavailable" })
  restore()
  expect(await storage.head("a")).toBeUndefined()
})

test("a tab with an older version closes at once when a newer one upgrades, and no line is lost", async () => {
  const database = newDatabase()
  const old = open(database)
  await old.append("a", ["1", "2"], { expect: 0 })
  const step = (db: { createObjectStore(name: string): unknown }): void => void db.createObjectStore("added")
  const upgraded = createConnection({ ...databaseOf(database), upgrades: [...UPGRADES, step] })
  const db = await upgraded.get()
  expect(db.version).toBe(UPGRADES.length + 1)
  expect([...db.objectStoreNames]).toContain("added")
  expect(await db.count("log")).toBe(1)
  await upgraded.close()
  expect(await rejection(old.head("a"))).toMatchObject({ code: "unsupported" })
})

test("each step of an upgrade runs once, in order, from the version that a database has", async () => {
  const database = newDatabase()
  await open(database).append("a", ["1"], { expect: 0 })
  const ran: string[] = []
  const steps = ["two", "three"].map((name) => () => void ran.push(name))
  for (const upgrades of [
    [...UPGRADES, ...steps.slice(0, 1)],
    [...UPGRADES, ...steps],
  ]) {
    const connection = createConnection({ ...databaseOf(database), upgrades })
    expect(await (await connection.get()).count("heads")).toBe(1)
    await connection.close()
  }
  expect(ran).toEqual(["two", "three"])
})

test("a tab that keeps an older version open makes an upgrade `unavailable`, and works once it is closed", async () => {
  const database = newDatabase()
  const blocking = await openDB(database, 1, {
    upgrade: (db, _from, _to, tx) => void UPGRADES[0]?.(db as never, tx as never),
  })
  const connection = createConnection({
    ...databaseOf(database),
    upgrades: [...UPGRADES, () => undefined],
    openingMs: 50,
  })
  const error = await rejection(connection.get())
  expect(error).toMatchObject({ code: "unavailable" })
  expect(error.message).toContain("close this site's other tabs")
  blocking.close()
  await expect.poll(() => connection.get().then(({ version }) => version, codeOf)).toBe(UPGRADES.length + 1)
  await connection.close()
})

test("an opening behind a deletion that waits for another tab is `unavailable` in time, and closing ends it", async () => {
  const database = newDatabase()
  const keeping = await openDB(database, UPGRADES.length)
  const deleted = deleteDB(database)
  const connection = createConnection({ ...databaseOf(database), openingMs: 50 })
  for (let n = 0; n < 2; n++) {
    const error = await rejection(connection.get())
    expect(error).toMatchObject({ code: "unavailable", storage: `indexeddb:${database}` })
    expect(error.message).toContain("close this site's other tabs")
  }
  await connection.close()
  const closed = connection.get()
  await connection.close()
  expect(await rejection(closed)).toMatchObject({ code: "unavailable" })
  keeping.close()
  await deleted
  expect(await open(database).head("a")).toBeUndefined()
})

test("after the database of an open storage was deleted, an append is `conflict`, and a new session can be created", async () => {
  const database = newDatabase()
  const storage = open(database)
  const head = await storage.append("a", ["1"], { expect: 0 })
  await deleteDB(database)
  const error = await rejection(storage.append("a", ["2"], { expect: head }))
  expect(error).toMatchObject({ code: "conflict", session: "a" })
  expect(error.message).toContain("no such session")
  await storage.append("a", ["new"], { expect: 0 })
  expect(await readAll(storage, "a")).toEqual(["new"])
})

test("a connection that the browser closed is opened again, and nothing is lost", async () => {
  const database = newDatabase()
  const connections: IDBDatabase[] = []
  const restore = replaceOpen((original, args) => {
    const request = original(...args)
    request.addEventListener("success", () => connections.push(request.result))
    return request
  })
  onTestFinished(restore)
  const storage = open(database)
  let head = await storage.append("a", ["1"], { expect: 0 })
  for (const event of ["close", undefined]) {
    const last = connections.at(-1)
    last?.close()
    // Chromium fires `close`; in an engine that does not, the next transaction fails.
    if (event !== undefined) last?.dispatchEvent(new Event(event))
    head = await storage.append("a", [`${head.next + 1}`], { expect: head })
  }
  expect(await readAll(storage, "a")).toEqual(["1", "2", "3"])
  expect(connections.length).toBe(3)
})

test("reading a damaged row is `corrupt`, with the row, and changes nothing", async () => {
  const damages: [name: string, damage: (tx: IDBTransaction, log: string) => IDBRequest, at: RegExp][] = [
    ["a row is gone", (tx, log) => tx.objectStore("log").delete([log, 1, 2]), /^log row 1$/],
    ["the last row is gone", (tx, log) => tx.objectStore("log").delete([log, 2, 4]), /^log row 2$/],
    ["the first row is gone", (tx, log) => tx.objectStore("log").delete([log, 0, 0]), /^log row 0$/],
    ["a row is not an object", (tx, log) => tx.objectStore("log").put("text", [log, 1, 2]), /^log row 1$/],
    [
      "a row has no text",
      (tx, log) => tx.objectStore("log").put({ from: 1, bytes: 2, text: 5 }, [log, 1, 2]),
      /^log row 1$/,
    ],
    ["the head lacks fields", (tx) => tx.objectStore("heads").put({ id: "a", log: 5 }), /^head a$/],
  ]
  for (const [name, damage, at] of damages) {
    const database = newDatabase()
    const storage = open(database)
    let head = await storage.append("a", ["1"], { expect: 0 })
    for (const line of ["2", "3"]) head = await storage.append("a", [line], { expect: head })
    await raw(database, ["heads", "log"], (tx) => damage(tx, head.log))
    const before = await counts(database)
    expect({ name, error: await rejection(readAll(storage, "a")) }).toMatchObject({
      name,
      error: { code: "corrupt", at: expect.stringMatching(at) },
    })
    await storage.compactRows("a").catch(() => undefined)
    expect({ name, ...(await counts(database)) }).toEqual({ name, ...before })
  }
})

test("a damaged head is `corrupt` for append and in the list, with or without a time, and its session can be deleted", async () => {
  const database = newDatabase()
  const storage = open(database)
  const head = await storage.append("a", ["1"], { expect: 0 })
  for (const updatedAt of [1, undefined]) {
    await raw(database, ["heads"], (tx) => tx.objectStore("heads").put({ id: "a", updatedAt, log: head.log }))
    expect(await rejection(storage.append("a", ["2"], { expect: head }))).toMatchObject({ code: "corrupt" })
    const rows = []
    for await (const row of storage.list()) rows.push(row)
    expect(rows).toMatchObject([{ id: "a", error: { code: "corrupt", session: "a" } }])
  }
  await storage.delete("a")
  expect(await listed(storage)).toEqual([])
})

test("a damaged document is `corrupt`", async () => {
  const database = newDatabase()
  const storage = open(database)
  await storage.docs.put("name", "text", { expect: null })
  await raw(database, ["docs"], (tx) => tx.objectStore("docs").put({ text: 5 }, "name"))
  expect(await rejection(storage.docs.get("name"))).toMatchObject({ code: "corrupt", at: "name" })
})

test("a damaged blob is `corrupt`, and is not deleted", async () => {
  const database = newDatabase()
  const storage = open(database)
  const hash = await storage.blobs.put(new Uint8Array([1, 2]))
  await raw(database, ["blobs"], (tx) => tx.objectStore("blobs").put({ bytes: 2 }, hash))
  const error = { code: "corrupt", at: hash }
  expect(await rejection(storage.blobs.delete(hash, { ifPutBefore: Number.POSITIVE_INFINITY }))).toMatchObject(error)
  expect(await rejection(storage.blobs.put(new Uint8Array([1, 2])))).toMatchObject(error)
  expect(await rejection(storage.blobs.list()[Symbol.asyncIterator]().next())).toMatchObject(error)
  expect(await storage.blobs.get(hash)).toEqual(new Uint8Array([1, 2]))
  await raw(database, ["blobBytes"], (tx) => tx.objectStore("blobBytes").put("text", hash))
  expect(await rejection(storage.blobs.get(hash))).toMatchObject(error)
})

test("a damaged row of a replace does not keep a session from being deleted", async () => {
  const database = newDatabase()
  const storage = open(database)
  await storage.append("a", ["1"], { expect: 0 })
  await raw(database, ["staged"], (tx) => tx.objectStore("staged").put({ session: 5, at: 0 }, "log"))
  await storage.delete("a")
  expect(await counts(database)).toEqual({ heads: 0, log: 0, staged: 1, docs: 0, blobs: 0, blobBytes: 0 })
})

test("a delete removes everything of the session, including the staged log of a running replace", async () => {
  const database = newDatabase()
  const storage = open(database)
  const head = await storage.append("a", ["1"], { expect: 0 })
  await storage.docs.put("sessions/a/note", "text", { expect: null })
  let reach = (): void => undefined
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const replacing = storage.replace("a", slowly(reach, held), { expect: head })
  await reached
  expect((await counts(database))["staged"]).toBe(1)
  await storage.delete("a")
  expect(await counts(database)).toEqual({ heads: 0, log: 0, staged: 0, docs: 0, blobs: 0, blobBytes: 0 })
  release()
  expect(await rejection(replacing)).toMatchObject({ code: "conflict" })
  expect(await counts(database)).toEqual({ heads: 0, log: 0, staged: 0, docs: 0, blobs: 0, blobBytes: 0 })
})

async function* slowly(reached: () => void, held: Promise<void>): AsyncGenerator<{ from: number; lines: string[] }> {
  yield { from: 0, lines: ["x".repeat(1_100_000)] }
  reached()
  await held
  yield { from: 1, lines: ["x".repeat(1_100_000)] }
}

async function listed(storage: IndexedDbStorage): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of storage.list()) ids.push(id)
  return ids
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code
}

async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error("It did not reject.")
}

type Open = IDBFactory["open"]

function replaceOpen(open: (original: Open, args: Parameters<Open>) => IDBOpenDBRequest): () => void {
  const original = IDBFactory.prototype.open.bind(indexedDB)
  IDBFactory.prototype.open = (...args) => open(original, args)
  return () => {
    IDBFactory.prototype.open = original
  }
}
