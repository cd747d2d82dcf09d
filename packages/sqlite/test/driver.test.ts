/** The entry `@sessions/sqlite/driver`. */
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect, connectReadOnly, retryWhileLocked, transaction } from "@sessions/sqlite/driver"
import { expect, onTestFinished, test, vi } from "vitest"
import { openDatabase, type SqliteDatabase } from "../src/driver/library.ts"
import { connectTo, newPath } from "./helpers.ts"

function opened(path: string) {
  const db = connect(path)
  onTestFinished(() => db.close())
  return db
}

test("a new file has mode 0600, and an existing one keeps its mode", () => {
  const path = newPath()
  opened(path).exec("CREATE TABLE t (a)")
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const existing = newPath()
  writeFileSync(existing, "", { mode: 0o640 })
  opened(existing).exec("CREATE TABLE t (a)")
  expect(statSync(existing).mode & 0o777).toBe(0o640)
})

test("a database in memory has no file", () => {
  expect(opened(":memory:").query("SELECT 1 AS one").get()).toEqual({ one: 1 })
  expect(existsSync(":memory:")).toBe(false)
})

test("another library opens the file", () => {
  const paths: string[] = []
  const path = newPath()
  const db = connect(path, {
    open(file) {
      paths.push(file)
      return connectTo(file)
    },
  })
  expect(db.query("SELECT 1 AS one").get()).toEqual({ one: 1 })
  expect(paths).toEqual([path])
})

test("a runtime without SQLite is `unsupported`, a missing folder `misconfigured`", () => {
  expect(() => connect(join(newPath(), "x.db"))).toThrow(
    expect.objectContaining({
      code: "misconfigured",
      message: expect.stringContaining("Is its folder there") as string,
    }),
  )
  const lookUp = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
  onTestFinished(() => lookUp.mockRestore())
  expect(() => connect(newPath())).toThrow(
    expect.objectContaining({ code: "unsupported", message: expect.stringContaining("Node 22.13") as string }),
  )
})

test("a connection that is closed releases each of its statements first, because Bun keeps the file open until then", () => {
  const left = new Set<string>()
  const open = (path: string): SqliteDatabase => {
    const database = openDatabase(path)
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        left.add(sql)
        return Object.assign(database.prepare(sql), { finalize: () => left.delete(sql) })
      },
      close() {
        expect([...left]).toEqual([])
        database.close()
      },
    }
  }
  const db = connect(newPath(), { open })
  db.exec("CREATE TABLE t (a)")
  const statements = ["INSERT INTO t VALUES (1)", "SELECT a FROM t"] as const
  db.run(statements[0])
  db.query(statements[1])
  expect([...left]).toEqual(statements)
  db.close()
  expect(left.size).toBe(0)
})

test("rows that an error has hidden from Deno's `iterate` follow once the error has passed, and a loop that ends early asks for none", () => {
  vi.stubGlobal("Deno", {})
  onTestFinished(() => void vi.unstubAllGlobals())
  let asked = 0
  const open = (path: string): SqliteDatabase => {
    const database = openDatabase(path)
    return {
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          get: (...values) => statement.get(...values),
          run: (...values) => statement.run(...values),
          iterate: () => statement.all().slice(0, 2),
          all(...values) {
            asked++
            return statement.all(...values)
          },
        }
      },
    }
  }
  const db = connect(":memory:", { open })
  const rows = db.query<{ column1: number }>("VALUES (1), (2), (3)")
  expect(Array.from(rows.iterate(), ({ column1 }) => column1)).toEqual([1, 2, 3])
  expect(asked).toBe(1)
  for (const { column1 } of rows.iterate()) if (column1 === 2) break
  expect(asked).toBe(1)
})

test("a transaction that throws leaves nothing, and the next one works", () => {
  const db = opened(newPath())
  db.exec("CREATE TABLE t (a)")
  const failing = () =>
    transaction(db, () => {
      db.run("INSERT INTO t VALUES (1)")
      throw new Error("stop")
    })
  expect(failing).toThrow("stop")
  expect(transaction(db, () => db.run("INSERT INTO t VALUES (2)"))).toBe(1)
  expect(db.query("SELECT a FROM t").all()).toEqual([{ a: 2 }])
})

test("an attempt is repeated until the file is unlocked, and `unavailable` after the timeout", async () => {
  const path = newPath()
  const db = opened(path)
  db.exec("PRAGMA busy_timeout = 0; CREATE TABLE t (a)")
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  const insert = () => transaction(db, () => db.run("INSERT INTO t VALUES (1)"))
  await expect(retryWhileLocked(insert, { path, timeout: 20 })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("for 20 ms") as string,
  })
  let attempts = 0
  const waiting = retryWhileLocked(
    () => {
      attempts++
      return insert()
    },
    { path, timeout: 60_000 },
  )
  await expect.poll(() => attempts).toBeGreaterThan(2)
  other.exec("ROLLBACK")
  expect(await waiting).toBe(1)
})

test("a connection that only reads sees the commits of a program that was killed, and leaves its files as they are", () => {
  const [path, copy] = [newPath(), newPath()]
  const writer = opened(path)
  writer.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
  // The files as a crash leaves them: the last connection, when it is closed, would move the commits from the log into the file.
  for (const part of ["", "-wal"]) copyFileSync(path + part, copy + part)
  const before = readFileSync(copy)
  const db = connectReadOnly(copy)
  expect(db.query("SELECT a FROM t").all()).toEqual([{ a: 1 }])
  expect(() => db.run("DELETE FROM t")).toThrow("readonly")
  db.close()
  expect(readFileSync(copy)).toEqual(before)
  expect(readFileSync(`${copy}-wal`)).toEqual(readFileSync(`${path}-wal`))
})

test("a connection that only reads makes no file", () => {
  const path = newPath()
  expect(() => connectReadOnly(path)).toThrow(expect.objectContaining({ code: "misconfigured" }))
  expect(existsSync(path)).toBe(false)
})
