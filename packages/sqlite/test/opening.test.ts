/** Files that are no database, of another program, of other versions, locked, read-only, and missing. */
import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createSqliteStorage, type SqliteDatabase, type SqliteStatement } from "@sessions/sqlite"
import { expect, onTestFinished, test, vi } from "vitest"
import { createConnection } from "../src/driver/connection.ts"
import { openDatabase, type SqliteValue } from "../src/driver/library.ts"
import { isCurrent, upgrade, UPGRADES } from "../src/schema.ts"
import { connectTo, fill, lineAt, linesOf, linesTo, newPath, openAt } from "./helpers.ts"

test("a file that is no database is `corrupt`, and stays as it is", async () => {
  const path = newPath()
  const content = "These are notes. ".repeat(1000)
  writeFileSync(path, content)
  const storage = openAt(path)
  const refusal = { code: "corrupt", message: expect.stringContaining("The file is no SQLite database") as string }
  await expect(storage.head("a")).rejects.toMatchObject(refusal)
  await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject(refusal)
  expect(readFileSync(path, "utf8")).toBe(content)
})

test("a database of another program is `corrupt`, and gets no table", async () => {
  const path = newPath()
  const other = connectTo(path)
  other.exec("CREATE TABLE session (a); PRAGMA user_version = 1")
  await expect(openAt(path).head("a")).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("another program") as string,
  })
  expect(other.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(1)
})

test("a file of a newer version is `unsupported`, and stays as it is", async () => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 2)
  const other = connectTo(path)
  other.exec("PRAGMA user_version = 99")
  const newer = openAt(path)
  const refusal = { code: "unsupported", message: expect.stringMatching(/version 99 .* Update @sessions/) as string }
  await expect(newer.head("a")).rejects.toMatchObject(refusal)
  await expect(newer.append("a", ["x"], { expect: 0 })).rejects.toMatchObject(refusal)
  expect(other.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
})

/** The steps of a later version of this package. */
const LATER = [...UPGRADES, "ALTER TABLE session ADD COLUMN kind TEXT"]

test("an older file is led to the current version, and keeps its content", async () => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 2)
  const db = createConnection(connectTo(path))
  expect(isCurrent(db, LATER)).toBe(false)
  upgrade(db, LATER)
  expect(isCurrent(db, LATER)).toBe(true)
  expect(db.query("SELECT kind FROM session").all()).toHaveLength(1)
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
})

test("a file whose upgrade fails keeps its version", async () => {
  const path = newPath()
  await fill(openAt(path), "a", 2)
  const db = createConnection(connectTo(path))
  expect(() => upgrade(db, [...LATER, "ALTER TABLE nothing ADD COLUMN x"])).toThrow("nothing")
  expect(isCurrent(db)).toBe(true)
})

test("an older file that is read-only is `unsupported`", async () => {
  const path = newPath()
  await fill(openAt(path), "a", 2)
  connectTo(path).exec("PRAGMA user_version = 0")
  await expect(openAt(path, { open: openReadOnly }).head("a")).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("version 0") as string,
  })
})

test("a read-only file can be read, and a write to it is `misconfigured`", async () => {
  const path = newPath()
  const head = await fill(openAt(path), "a", 2)
  const storage = openAt(path, { open: openReadOnly })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  expect(await storage.head("a")).toMatchObject(head)
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "misconfigured",
    message: expect.stringContaining("read-only") as string,
  })
})

// This part of SQLite has locks but no shared memory, like a network drive. Bun takes no URI.
const isRemotePossible = process.platform !== "win32" && !("Bun" in globalThis)
const openWithoutMemory = (path: string): SqliteDatabase => openDatabase(`file:${path}?vfs=unix-dotfile`)

test.skipIf(!isRemotePossible)(
  "a file on a drive without shared memory is `unsupported`, new or not, and keeps its content",
  async () => {
    const path = newPath()
    const message = expect.stringContaining("on a local disk") as string
    const refusal = { code: "unsupported", message }
    await expect(openAt(path, { open: openWithoutMemory }).head("a")).rejects.toMatchObject(refusal)
    const storage = openAt(path)
    await fill(storage, "a", 2)
    await storage[Symbol.asyncDispose]()
    const before = readFileSync(path)
    const remote = openAt(path, { open: openWithoutMemory })
    await expect(remote.head("a")).rejects.toMatchObject({ code: "misconfigured", message })
    await expect(remote.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "misconfigured" })
    expect(readFileSync(path)).toEqual(before)
    expect(await linesOf(openAt(path), "a")).toEqual(linesTo(2))
  },
)

test("a folder that does not exist is `misconfigured`, and the next call tries again", async () => {
  const storage = openAt(join(dirname(newPath()), "missing", "sessions.db"))
  const refusal = { code: "misconfigured", message: expect.stringContaining("Is its folder there") as string }
  await expect(storage.head("a")).rejects.toMatchObject(refusal)
  await expect(storage.head("a")).rejects.toMatchObject(refusal)
})

test("the file and those beside it can be read by this user alone", async () => {
  const path = newPath()
  await fill(openAt(path), "a", 1)
  for (const name of ["", "-wal", "-shm"]) expect(statSync(path + name).mode & 0o777).toBe(0o600)
})

test("eight storages that create the file at the same moment all succeed", async () => {
  const path = newPath()
  const storages = Array.from({ length: 8 }, () => openAt(path))
  await Promise.all(storages.map((storage, n) => storage.append(`s${n}`, [lineAt(n)], { expect: 0 })))
  const ids: string[] = []
  for await (const { id } of openAt(path).list()) ids.push(id)
  expect(ids.sort()).toEqual(storages.map((_, n) => `s${n}`))
})

test("a file that another process creates between two statements of the opening is no other program's", async () => {
  const path = newPath()
  const looked: string[] = []
  const open = (at: string): SqliteDatabase => {
    const database = openDatabase(at)
    const prepare = (sql: string): SqliteStatement => {
      const statement = database.prepare(sql)
      const get: SqliteStatement["get"] = (...values) => {
        const row = statement.get(...values)
        if (looked.length === 0) {
          const other = createConnection(connectTo(path))
          other.exec("PRAGMA journal_mode = WAL")
          upgrade(other)
        }
        looked.push(sql)
        return row
      }
      return {
        get,
        all: (...values) => statement.all(...values),
        iterate: (...values) => statement.iterate(...values),
        run: (...values) => statement.run(...values),
        finalize: () => statement.finalize?.(),
      }
    }
    return { exec: (sql) => void database.exec(sql), close: () => void database.close(), prepare }
  }
  expect(await openAt(path, { open }).head("a")).toBeUndefined()
  expect(looked.length).toBeGreaterThan(1)
})

test("a runtime without SQLite gets `unsupported` from the first call, with what to do, and no file", async () => {
  const lookUp = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
  onTestFinished(() => lookUp.mockRestore())
  const path = newPath()
  await expect(openAt(path).head("a")).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("Node 22.13") as string,
  })
  expect(existsSync(path)).toBe(false)
})

test.each([
  [{}, "`path`"],
  [{ path: ":memory:" }, "createMemoryStorage"],
  [{ path: "x", durabilty: "disk" }, 'Did you mean "durability"?'],
  [{ path: "x", durability: "full" }, '`durability` is "disk" or "os"'],
  [{ path: "x", lockTimeout: -1 }, "`lockTimeout`"],
  [{ path: "x", maxBatchBytes: 1_000_000_000 }, "`maxBatchBytes`"],
  [{ path: "x", open: "node:sqlite" }, "`open`"],
])("the options %j are `invalid`", (options, text) => {
  expect(() => createSqliteStorage(options as never)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(text) as string }),
  )
})

test("with a library that stores NULL for an array without memory, empty content is content", async () => {
  const storage = openAt(newPath(), { open: openAsNode2213 })
  const hash = await storage.blobs.put(new Uint8Array())
  expect(await storage.blobs.get(hash)).toEqual(new Uint8Array())
  await storage.docs.put("d", "", { expect: null })
  expect((await storage.docs.get("d"))?.text).toBe("")
  await storage.append("a", ["x"], { expect: 0, info: "" })
  expect((await storage.head("a"))?.info?.text).toBe("")
})

/** Node 22.13 and 22.14 take an array that begins nowhere for NULL. */
function openAsNode2213(path: string): SqliteDatabase {
  const database = openDatabase(path)
  const taken = (values: readonly SqliteValue[]): SqliteValue[] =>
    values.map((value) => (value instanceof Uint8Array && value.buffer.byteLength === 0 ? null : value))
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        get: (...values) => statement.get(...taken(values)),
        all: (...values) => statement.all(...taken(values)),
        iterate: (...values) => statement.iterate(...taken(values)),
        run: (...values) => statement.run(...taken(values)),
        finalize: () => statement.finalize?.(),
      }
    },
    close: () => database.close(),
  }
}

/** A connection as one to a file on a read-only medium. */
function openReadOnly(path: string): SqliteDatabase {
  const database = openDatabase(path)
  database.exec("PRAGMA query_only = ON")
  return database
}

test("nothing is acknowledged into a file that was removed: the next call uses the one at the path", async () => {
  const path = newPath()
  const storage = openAt(path, { durability: "disk" })
  const head = await fill(storage, "a", 2)
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
  await expect(storage.append("a", [lineAt(2)], { expect: head })).rejects.toMatchObject({ code: "conflict" })
  expect(await storage.head("a")).toBeUndefined()
  await fill(storage, "b", 2)
  expect(await linesOf(openAt(path), "b")).toEqual(linesTo(2))
})

test.each([
  ["a file", (folder: string) => writeFileSync(folder, "")],
  ["a link that leads nowhere", (folder: string) => symlinkSync(folder, folder)],
])(
  "with %s in the place of its folder an open storage is `misconfigured`, and goes on when the folder is back",
  async (_, put) => {
    const path = newPath()
    const folder = dirname(path)
    const storage = openAt(path)
    const head = await fill(storage, "a", 2)
    renameSync(folder, `${folder}.moved`)
    put(folder)
    await expect(storage.head("a")).rejects.toMatchObject({ code: "misconfigured" })
    await expect(storage.append("a", [lineAt(2)], { expect: head })).rejects.toMatchObject({ code: "misconfigured" })
    rmSync(folder)
    renameSync(`${folder}.moved`, folder)
    await storage.append("a", [lineAt(2)], { expect: head })
    expect(await linesOf(openAt(path), "a")).toEqual(linesTo(3))
  },
)

test("a file that was replaced is read and written from then on, also by a watch; its own files stay whole", async () => {
  const [path, other] = [newPath(), newPath()]
  const prepared = openAt(other)
  await fill(prepared, "a", 5)
  await prepared[Symbol.asyncDispose]()
  const storage = openAt(path)
  await fill(storage, "a", 2)
  const heads: (number | undefined)[] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const head of storage.watch?.("a", { signal: stop.signal }) ?? []) {
      heads.push(head?.next)
      if (head?.next === 6) stop.abort()
    }
  })().catch(() => undefined)
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
  renameSync(other, path)
  const writer = openAt(path)
  const now = await writer.head("a")
  await writer.append("a", [lineAt(5)], { expect: { next: 5, log: now?.log ?? "" } })
  await watching
  expect(heads.at(-1)).toBe(6)
  expect(await linesOf(storage, "a")).toEqual(linesTo(6))
  await storage[Symbol.asyncDispose]()
  await writer[Symbol.asyncDispose]()
  expect(await linesOf(openAt(path), "a")).toEqual(linesTo(6))
})
