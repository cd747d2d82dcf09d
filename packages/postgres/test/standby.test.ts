/** A primary whose commits wait for a standby. The wait can be ended by an administrator, or with the connection. */
import type { PooledConnection, PostgresPool } from "@sessions/postgres"
import { expect, test } from "vitest"
import { createDatabase } from "../src/database.ts"
import { toError, UnknownOutcome } from "../src/errors.ts"
import { createDelete } from "../src/remove.ts"
import { tablesOf } from "../src/schema.ts"

/** As PostgreSQL 15 sends it with `lc_messages = 'de_DE.UTF-8'`. */
const NOTICE = { message: "storniere Warten auf synchrone Replikation wegen Benutzeraufforderung", file: "syncrep.c" }

/** What happens at each statement, in turn. */
type Event = "confirmed" | "unconfirmed" | "lost" | { readonly rows: readonly unknown[] }

function fakePool(events: Event[], sent: string[]): PostgresPool {
  const listeners: ((notice: typeof NOTICE) => void)[] = []
  const connection: PooledConnection = {
    async query(statement) {
      sent.push(typeof statement === "string" ? statement : statement.text)
      const event = events.shift()
      if (event === "lost") throw new Error("Connection terminated unexpectedly")
      if (event === "unconfirmed") for (const listen of listeners) listen(NOTICE)
      return typeof event === "object" ? event : { rows: [] }
    },
    release: () => undefined,
    on: (event, listen) => (event === "notice" ? listeners.push(listen) : undefined),
  }
  return { totalCount: 0, on: () => undefined, connect: async () => connection }
}

const call = { doing: "append to the log", session: "a", writes: true } as const

test("a statement that the standby has not confirmed is not repeated, and is `indeterminate`", async () => {
  const sent: string[] = []
  const run = createDatabase(fakePool(["unconfirmed"], sent), true).run("UPDATE")
  const error = await run.catch((error: unknown) => error)
  expect(toError(error, call)).toMatchObject({ code: "indeterminate" })
  expect(sent).toEqual(["UPDATE"])
})

test("the answer to a repeat waits for the standby; if that wait is ended, it is `indeterminate`", async () => {
  const sent: string[] = []
  const answer = await createDatabase(fakePool(["lost", "confirmed", "confirmed"], sent), true).run("UPDATE")
  expect(answer.lost).toBeInstanceOf(UnknownOutcome)
  expect(sent).toEqual(["UPDATE", "UPDATE", expect.stringContaining("pg_logical_emit_message")])
  const run = createDatabase(fakePool(["lost", "confirmed", "unconfirmed"], []), true).run("UPDATE")
  expect(toError(await run.catch((error: unknown) => error), call)).toMatchObject({ code: "indeterminate" })
})

test("a delete whose answer was lost waits for the standby before it says that nothing is left", async () => {
  const sent: string[] = []
  const found = { rows: [{ log: "x", bytes: "8" }] }
  const pool = fakePool(["confirmed", found, "confirmed", "confirmed", "confirmed", "lost"], sent)
  const remove = createDelete(createDatabase(pool, true), tablesOf("sessions", ""))
  expect(await remove("a", {})).toMatchObject({ bytes: 8, purged: true })
  expect(sent.lastIndexOf("COMMIT")).toBe(sent.length - 2)
  expect(sent.at(-1)).toContain("pg_logical_emit_message")
})

test("a commit of another user of the pool that was not confirmed changes no answer", async () => {
  const pool = fakePool(["confirmed", "unconfirmed", "confirmed"], [])
  const database = createDatabase(pool, true)
  await database.run("SELECT")
  await (await pool.connect()).query("the other user's")
  expect((await database.run("UPDATE")).lost).toBeUndefined()
})

test("without a standby nothing is sent but the statement", async () => {
  const sent: string[] = []
  await createDatabase(fakePool(["lost", "confirmed"], sent), false).run("UPDATE")
  expect(sent).toEqual(["UPDATE", "UPDATE"])
})
