/** Statements with names over a pool, and without when a connection pooler loses them. */
import type { NamedStatement, PooledConnection, PostgresPool } from "@sessions/postgres"
import { expect, test } from "vitest"
import { createDatabase } from "../src/database.ts"

/** A pool whose connection answers each statement with `answer`. */
function poolOf(answer: (statement: string | NamedStatement) => readonly unknown[]): PostgresPool {
  const connection: PooledConnection = {
    query: async (statement) => ({ rows: answer(statement) }),
    release: () => undefined,
    on: () => undefined,
  }
  return { totalCount: 0, on: () => undefined, connect: async () => connection }
}

const nameOf = (statement: string | NamedStatement): string | undefined =>
  typeof statement === "object" ? statement.name : undefined

test("a statement has the same name each time, and another statement another", async () => {
  const names: string[] = []
  const pool = poolOf((statement) => {
    names.push(nameOf(statement) ?? "")
    return []
  })
  const [first, second] = [createDatabase(pool, false), createDatabase(pool, false)]
  for (const db of [first, first, second]) await db.query("SELECT $1", [1])
  await first.query("SELECT $1, 2", [1])
  expect(names[0]).toMatch(/^sessions_[0-9a-f]{32}$/)
  expect(names.slice(1, 3)).toEqual([names[0], names[0]])
  expect(names[3]).not.toBe(names[0])
})

test.each([
  ["is not known", "26000"],
  ["is known already", "42P05"],
])("a statement whose name %s at the server is sent without, and so are all later ones", async (_, code) => {
  const sent: (string | NamedStatement)[] = []
  const pool = poolOf((statement) => {
    sent.push(statement)
    if (nameOf(statement) !== undefined)
      throw Object.assign(new Error("prepared statement"), { code, severity: "ERROR" })
    return [{ n: 1 }]
  })
  const db = createDatabase(pool, false)
  expect(await db.run("SELECT 1")).toEqual({ rows: [{ n: 1 }] })
  expect(await db.query("SELECT 2")).toEqual([{ n: 1 }])
  expect(sent.slice(1)).toMatchObject([{ text: "SELECT 1" }, { text: "SELECT 2" }])
})

test("any other error of a statement with a name is the caller's", async () => {
  const refused = Object.assign(new Error("duplicate key"), { code: "23505", severity: "ERROR" })
  const pool = poolOf(() => {
    throw refused
  })
  await expect(createDatabase(pool, false).query("INSERT")).rejects.toBe(refused)
})
