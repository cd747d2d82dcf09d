/** Tables of an older version. */
import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage, type PostgresStorage } from "@sessions/postgres"
import { afterAll, beforeEach, expect, test } from "vitest"
import { createDatabase } from "../src/database.ts"
import { prepareSchema, type Tables, tablesOf, type Upgrade, UPGRADES } from "../src/schema.ts"

const addColumn: Upgrade = ({ session }) => [
  `ALTER TABLE ${session} ADD COLUMN pinned boolean NOT NULL DEFAULT false`,
  `UPDATE ${session} SET pinned = true`,
]
const failing: Upgrade = ({ session }) => [`ALTER TABLE ${session} ADD COLUMN other int`, "SELECT 1 / 0"]

const client = await PGlite.create()
const database = createDatabase(client, false)
afterAll(() => client.close())

let schemas = 0
let tables: Tables
beforeEach(async () => {
  tables = tablesOf(`upgraded_${schemas++}`, "")
  await open().append("a", ["first"], { expect: 0 })
})

function open(): PostgresStorage {
  return createPostgresStorage({ client, schema: tables.schema, durability: "os" })
}

async function stored(): Promise<object[]> {
  return (await client.query<object>(`SELECT s.*, m.version FROM ${tables.session} s, ${tables.meta} m`)).rows
}

test("tables of an older version are upgraded by the missing steps alone, once, with their rows", async () => {
  const newer = [...UPGRADES, addColumn]
  await Promise.all([1, 2, 3].map(() => prepareSchema(database, tables, newer)))
  expect(await stored()).toMatchObject([{ id: "a", next: 1, pinned: true, version: newer.length }])
})

test("an upgrade that fails changes nothing, and the tables can be used as before", async () => {
  const before = await stored()
  await expect(prepareSchema(database, tables, [...UPGRADES, addColumn, failing])).rejects.toThrow(/division by zero/)
  expect(await stored()).toEqual(before)
  const storage = open()
  const head = await storage.head("a")
  await storage.append("a", ["second"], { expect: head as never })
})

test("tables of a newer version are refused by the older package, and stay as they are", async () => {
  await prepareSchema(database, tables, [...UPGRADES, addColumn])
  const before = await stored()
  await expect(open().head("a")).rejects.toMatchObject({
    code: "unsupported",
  })
  expect(await stored()).toEqual(before)
})
