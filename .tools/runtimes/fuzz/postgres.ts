/** PostgreSQL as a storage that is fuzzed, on the server in `POSTGRES_TEST_SERVER`. Rows are damaged as JSON. */
import { createPostgresStorage, type PooledConnection, type PostgresPool } from "@sessions/postgres"
import { createPool } from "../../../packages/postgres/test/server/server.ts"
import { extentOfRow, fromBytes, toBytes, toColumn } from "./databases.ts"
import type { Json } from "./mutate.ts"
import { step, type Steps, type Store, type Stored } from "./stores.ts"

const TABLES = ["session", "batch", "doc"] as const
type Table = (typeof TABLES)[number]
/** Without those that the server computes. */
const COLUMNS = {
  session: "id, log, next, bytes, updated_at, info, info_next",
  batch: "log, seq, lines, bytes, append, body",
  doc: "key, session, body",
}
/** The columns that tell a row from all others. */
const KEYS: Readonly<Record<Table, readonly string[]>> = { session: ["id"], batch: ["log", "seq"], doc: ["key"] }
const INTEGERS = ["next", "bytes", "updated_at", "info_next", "seq"]

type Pool = ReturnType<typeof createPool>

let made = 0
let steps: Steps | undefined
let pools: { readonly raw: Pool; readonly counted: PostgresPool } | undefined

export function postgresStore(): Store {
  pools ??= connect()
  const { raw: database, counted } = pools
  const schema = `fuzz_${process.pid}_${made++}`
  const rowsOf = async (table: Table): Promise<readonly Json[]> => {
    const { rows } = await database.query<Json>(`SELECT ctid AS row, ${COLUMNS[table]} FROM ${schema}.${table}`)
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])))
  }
  const nameOf = (table: Table, row: Json): string =>
    [table, ...KEYS[table].map((column) => encodeURIComponent(String(row[column])))].join(" ")

  return {
    name: "postgres",
    async read() {
      const rows: Stored = new Map()
      for (const table of TABLES) {
        for (const { row: _, ...columns } of await rowsOf(table)) rows.set(nameOf(table, columns), toBytes(columns))
      }
      return rows
    },
    async write(path, bytes) {
      const table = path.split(" ")[0] as Table
      const before = (await rowsOf(table)).find((row) => nameOf(table, row) === path) as Json
      let { row } = before
      if (bytes === undefined)
        return void (await database.query(`DELETE FROM ${schema}.${table} WHERE ctid = $1`, [row]))
      const after = fromBytes(bytes) as Json
      for (const [column, value] of Object.entries(before)) {
        if (!(column in after)) continue
        const update = `UPDATE ${schema}.${table} SET ${column} = $1 WHERE ctid = $2 RETURNING ctid AS row`
        try {
          // A changed row is at another place.
          row = (await database.query<Json>(update, [toColumn(after[column], value), row])).rows[0]?.["row"] ?? row
        } catch {
          // The tables take values of one type only.
        }
      }
    },
    kindOf: (path) => (path.startsWith("batch ") ? "log" : "data"),
    isRow: () => true,
    extentOf: (path, stored) => extentOfRow(path, stored, "batch ", (path) => Number(path.split(" ")[2])),
    async snapshot() {
      for (const table of TABLES)
        await database.query(`CREATE TABLE ${schema}.kept_${table} AS SELECT ${COLUMNS[table]} FROM ${schema}.${table}`)
      return async () => {
        for (const table of TABLES) {
          const columns = COLUMNS[table]
          await database.query(`DELETE FROM ${schema}.${table}`)
          await database.query(
            `INSERT INTO ${schema}.${table} (${columns}) SELECT ${columns} FROM ${schema}.kept_${table}`,
          )
        }
      }
    },
    open(counts) {
      steps = counts
      return createPostgresStorage({ client: counted, schema, durability: "os" })
    },
    async remove() {
      await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    },
  }
}

/** The driver gives integers as texts, whose damage would be a text, and bytes as a Buffer, which is another JSON. */
function plain(column: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  return INTEGERS.includes(column) && value !== null ? Number(value) : value
}

/** One pool for all stores, whose statements through `counted` are steps. No round has two storages open. */
function connect(): NonNullable<typeof pools> {
  const raw = createPool({ options: "-c synchronous_commit=off" })
  const counted: PostgresPool = {
    totalCount: 0,
    on: (event, listener) => raw.on(event, listener),
    async connect() {
      const connection = await raw.connect()
      const counting: PooledConnection = {
        query(text, values) {
          if (steps !== undefined) step(steps)
          return connection.query(text, values)
        },
        release: (destroy) => connection.release(destroy),
        on: (event, listener) => connection.on(event, listener),
      }
      return counting
    },
  }
  return { raw, counted }
}
