/** Rows of an older state are put back, as after a failover to a standby that had lost appends. PGlite is PostgreSQL in this process. */
import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage } from "@sessions/postgres"
import { afterAll, expect, test } from "vitest"
import { checkRestores, type Restorable } from "../../core/test/restores.ts"

let database: PGlite | undefined
afterAll(() => database?.close())

const TABLES = ["session", "batch"]
let stores = 0

async function makeStore(): Promise<Restorable> {
  const client = (database ??= await PGlite.create())
  const schema = `restores${stores++}`
  let copies = 0
  return {
    open: () => createPostgresStorage({ client, schema, durability: "os" }),
    async backup() {
      const n = copies++
      await client.exec(TABLES.map((t) => `CREATE TABLE ${schema}.${t}_${n} AS SELECT * FROM ${schema}.${t}`).join(";"))
      const columns = async (table: string): Promise<string> => {
        const sql = `SELECT string_agg(column_name, ',') AS all FROM information_schema.columns
          WHERE table_schema = '${schema}' AND table_name = '${table}' AND is_generated = 'NEVER'`
        return ((await client.query(sql)).rows[0] as { all: string }).all
      }
      const names = await Promise.all(TABLES.map(columns))
      const restore = TABLES.map(
        (t, at) =>
          `DELETE FROM ${schema}.${t}; INSERT INTO ${schema}.${t} (${names[at]}) SELECT ${names[at]} FROM ${schema}.${t}_${n}`,
      )
      return async () => void (await client.exec(`BEGIN; ${restore.join(";")}; COMMIT`))
    },
  }
}

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  // A round takes seconds here.
  const rounds = Number(process.env["ROUNDS"] ?? 20)
  expect(await checkRestores(makeStore, rounds)).toBe(rounds)
})
