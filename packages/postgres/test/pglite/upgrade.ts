/** Tables of an older version, of a newer one, and missing ones. */
import { createPostgresStorage, type PostgresStorage } from "@sessions/postgres"
import { beforeEach, describe, expect, test } from "vitest"
import { createDatabase } from "../../src/database.ts"
import { prepareSchema, type Tables, tablesOf, type Upgrade, UPGRADES } from "../../src/schema.ts"
import { database as client } from "./database.ts"

const addColumn: Upgrade = ({ session }) => [
  `ALTER TABLE ${session} ADD COLUMN pinned boolean NOT NULL DEFAULT false`,
  `UPDATE ${session} SET pinned = true`,
]
const failing: Upgrade = ({ session }) => [`ALTER TABLE ${session} ADD COLUMN other int`, "SELECT 1 / 0"]

const connected = createDatabase(client, false)

export function upgradeTests(): void {
  describe("tables that are there already, or missing", () => {
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
      await Promise.all([1, 2, 3].map(() => prepareSchema(connected, tables, { create: true, upgrades: newer })))
      expect(await stored()).toMatchObject([{ id: "a", next: 1, pinned: true, version: newer.length }])
    })

    test("an upgrade that fails changes nothing, and the tables can be used as before", async () => {
      const before = await stored()
      await expect(
        prepareSchema(connected, tables, { create: true, upgrades: [...UPGRADES, addColumn, failing] }),
      ).rejects.toThrow(/division by zero/)
      expect(await stored()).toEqual(before)
      const storage = open()
      const head = await storage.head("a")
      await storage.append("a", ["second"], { expect: head as never })
    })

    test("with `create: false` missing tables are `unsupported` and not created, and existing ones are used", async () => {
      const absent = createPostgresStorage({ client, schema: "absent", create: false, durability: "os" })
      await expect(absent.head("a")).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringContaining('"absent"') as string,
      })
      await expect(absent.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "unsupported" })
      const schemas = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'absent'"
      expect((await client.query(schemas)).rows).toEqual([])
      const existing = createPostgresStorage({ client, schema: tables.schema, create: false, durability: "os" })
      expect(await existing.head("a")).toMatchObject({ next: 1 })
    })

    test("every table has a primary key, also in tables of the first version: a publication of all tables asks for it", async () => {
      const first = tablesOf(`${tables.schema}_first`, "")
      await prepareSchema(connected, first, { create: true, upgrades: UPGRADES.slice(0, 1) })
      await createPostgresStorage({ client, schema: first.schema, durability: "os" }).append("a", ["x"], { expect: 0 })
      for (const schema of [tables.schema, first.schema]) {
        const without = `SELECT relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = $1 AND c.relkind = 'r'
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`
        expect((await client.query(without, [schema])).rows).toEqual([])
      }
    })

    test("tables of a newer version are refused by the older package, and stay as they are", async () => {
      await prepareSchema(connected, tables, { create: true, upgrades: [...UPGRADES, addColumn] })
      const before = await stored()
      await expect(open().head("a")).rejects.toMatchObject({
        code: "unsupported",
      })
      expect(await stored()).toEqual(before)
    })
  })
}
