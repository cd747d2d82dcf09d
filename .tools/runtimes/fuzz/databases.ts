/** The storages over databases, whose rows are damaged as JSON: IndexedDB in memory, and SQLite. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createIndexedDbStorage } from "../../../packages/idb/src/index.ts"
import { useIndexedDbInMemory } from "../../../packages/idb/test/in-memory.ts"
import {
  createSqliteStorage,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
} from "../../../packages/sqlite/src/index.ts"
import { openDatabase } from "../../../packages/sqlite/src/driver/library.ts"
import type { Json } from "./mutate.ts"
import { ALL, counted, type Extent, makeFolder, NOTHING, step, type Steps, type Store, type Stored } from "./stores.ts"

useIndexedDbInMemory()

let made = 0
/** IndexedDB has no layer that could be passed to a storage: its own objects count for the storage that was opened last. */
let stepsOfIndexedDb: Steps | undefined
for (const on of [IDBObjectStore.prototype, IDBIndex.prototype]) {
  for (const name of ["get", "getAll", "getAllKeys", "getKey", "openKeyCursor"] as const) {
    const original = on[name] as (...args: unknown[]) => never
    on[name] = function (this: unknown, ...args: unknown[]): never {
      if (stepsOfIndexedDb !== undefined) step(stepsOfIndexedDb)
      return original.apply(this, args)
    }
  }
}

const TABLES = ["heads", "log", "staged", "docs", "meta"] as const

export function indexedDbStore(): Store {
  const database = `fuzz-${made++}`
  const store: Store = {
    name: "idb",
    async read() {
      stepsOfIndexedDb = undefined
      const rows: Stored = new Map()
      const db = await openRaw(database)
      for (const table of TABLES) {
        const store = db.transaction(table).objectStore(table)
        const [keys, values] = await Promise.all([settled(store.getAllKeys()), settled<unknown[]>(store.getAll())])
        for (const [n, key] of keys.entries()) rows.set(`${table} ${JSON.stringify(key)}`, toBytes(values[n]))
      }
      db.close()
      return rows
    },
    async write(path, bytes) {
      stepsOfIndexedDb = undefined
      const table = path.slice(0, path.indexOf(" "))
      const key = JSON.parse(path.slice(table.length + 1)) as IDBValidKey
      const db = await openRaw(database)
      const store = db.transaction(table, "readwrite").objectStore(table)
      if (bytes === undefined) await settled(store.delete(key))
      // A head has its key in the row. With another one it is the head of another session.
      else
        await settled(
          store.keyPath === null
            ? store.put(fromBytes(bytes), key)
            : store.put({ ...(fromBytes(bytes) as Json), id: key }),
        )
      db.close()
    },
    kindOf: (path) => (path.startsWith("log ") ? "log" : "data"),
    isRow: () => true,
    extentOf: (path, stored) =>
      extentOfRow(path, stored, "log ", (path) => (JSON.parse(path.slice(4)) as number[])[1] ?? 0),
    async snapshot() {
      const rows = await store.read()
      return async () => {
        const db = await openRaw(database)
        for (const table of TABLES) await settled(db.transaction(table, "readwrite").objectStore(table).clear())
        db.close()
        for (const [path, bytes] of rows) await store.write(path, bytes)
      }
    },
    open(steps) {
      stepsOfIndexedDb = steps
      return createIndexedDbStorage({ database })
    },
    async remove() {
      await settled(indexedDB.deleteDatabase(database))
    },
  }
  return store
}

function openRaw(database: string): Promise<IDBDatabase> {
  return settled(indexedDB.open(database))
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

export function sqliteStore(): Store {
  const folder = makeFolder()
  const path = join(folder, "sessions.db")
  const inDatabase = async <T>(use: (database: SqliteDatabase) => T): Promise<T> => {
    const database = openDatabase(path)
    try {
      return use(database)
    } finally {
      database.close()
    }
  }
  return {
    name: "sqlite",
    read: () =>
      inDatabase((database) => {
        const rows: Stored = new Map()
        for (const table of ["session", "batch", "doc"]) {
          for (const row of database.prepare(`SELECT rowid AS row, * FROM ${table}`).all()) {
            const { row: id, ...columns } = row as { row: number } & Json
            rows.set(table === "batch" ? `batch ${id} ${String(columns["seq"])}` : `${table} ${id}`, toBytes(columns))
          }
        }
        return rows
      }),
    write: (path, bytes) =>
      inDatabase((database) => {
        const [table = "", id = ""] = path.split(" ")
        const before = database.prepare(`SELECT * FROM ${table} WHERE rowid = ?`).get(Number(id)) as Json
        if (bytes === undefined) return void database.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(Number(id))
        const after = fromBytes(bytes) as Json
        for (const [column, value] of Object.entries(before)) {
          try {
            database
              .prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`)
              .run(toColumn(after[column], value), Number(id))
          } catch {
            // The tables take values of one type only.
          }
        }
      }),
    kindOf: (path) => (path.startsWith("batch ") ? "log" : "data"),
    isRow: () => true,
    extentOf: (path, stored) => extentOfRow(path, stored, "batch ", (path) => Number(path.split(" ")[2])),
    async snapshot() {
      const bytes = readFileSync(path)
      return async () => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name))
        writeFileSync(path, bytes)
      }
    },
    open: (steps) =>
      createSqliteStorage({
        path,
        durability: "os",
        open(at) {
          const database = openDatabase(at)
          return {
            exec: (sql) => database.exec(sql),
            prepare: (sql) => countedStatement(database, sql, steps),
            close: () => database.close(),
          }
        },
      }),
    async remove() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function countedStatement(database: SqliteDatabase, sql: string, steps: Steps): SqliteStatement {
  const statement = database.prepare(sql)
  return counted<SqliteStatement>(
    {
      get: (...values) => statement.get(...values),
      all: (...values) => statement.all(...values),
      iterate: (...values) => statement.iterate(...values),
      run: (...values) => statement.run(...values),
    },
    steps,
  )
}

/** A column has the type that it had: the tables refuse any other. */
export function toColumn(value: unknown, before: unknown): SqliteValue {
  if (before instanceof Uint8Array)
    return Buffer.from(typeof value === "string" ? value : JSON.stringify(value ?? ""), "latin1")
  if (typeof before === "number") return Math.abs(Number(value)) < 2 ** 52 ? Math.trunc(Number(value)) : 0
  if (before === null) return null
  return typeof value === "string" ? value : JSON.stringify(value ?? null)
}

/** A row of the log ends where the next one begins. Other rows name the log or its end. */
export function extentOfRow(path: string, stored: Stored, prefix: string, firstOf: (path: string) => number): Extent {
  if (/^(docs?|meta) /.test(path)) return NOTHING
  if (!path.startsWith(prefix)) return ALL
  const from = firstOf(path)
  const firsts = [...stored.keys()].filter((one) => one.startsWith(prefix)).map(firstOf)
  return [from, Math.min(...firsts.filter((first) => first > from))]
}

/** Bytes within the row, as SQLite has them, become text with a character for each. */
export function toBytes(row: unknown): Uint8Array {
  return Buffer.from(
    JSON.stringify(row, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    ),
  )
}

export function fromBytes(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown
}
