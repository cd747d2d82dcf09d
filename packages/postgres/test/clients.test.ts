/** What may be given as `client`, and how long its answers are waited for. */
import {
  createPostgresStorage,
  type PooledConnection,
  type PostgresClient,
  type PostgresPool,
} from "@sessions/postgres"
import { expect, onTestFinished, test, vi } from "vitest"
import { createDatabase } from "../src/database.ts"
import { toError } from "../src/errors.ts"
import { FAILURES, failureOf } from "../src/failures.ts"
import { TYPES } from "../src/types.ts"

const never = (): Promise<never> => new Promise(() => undefined)

function poolOf(connect: PostgresPool["connect"]): PostgresPool {
  return { totalCount: 0, on: () => undefined, connect }
}

test("an object of a library above the driver is `invalid`, and the sentence says where the driver's client is", () => {
  const drizzle = { query: {}, execute: () => undefined, $client: {} } as unknown as PostgresClient
  const make = (): unknown => createPostgresStorage({ client: drizzle })
  expect(make).toThrow(expect.objectContaining({ code: "invalid", message: expect.stringContaining("`$client`") }))
  for (const client of [{}, { totalCount: 1 }, { query: 1 }, null] as unknown as PostgresClient[])
    expect(() => createPostgresStorage({ client })).toThrow(expect.objectContaining({ code: "invalid" }))
})

test("a pg.Client that is not connected is `invalid` at once, since its statements would wait for ever", async () => {
  const client = {
    query: never,
    connect: never,
    setTypeParser() {},
    _connecting: false,
    _connected: false,
    _ended: false,
  }
  await expect(createPostgresStorage({ client }).head("a")).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("client.connect()") as string,
  })
})

test("a pool or a client that has ended is `closed`", async () => {
  const pool = poolOf(() => Promise.reject(new Error("Cannot use a pool after calling end on the pool")))
  await expect(createPostgresStorage({ client: pool }).head("a")).rejects.toMatchObject({ code: "closed" })
  const client = { query: () => Promise.reject(new Error("Client was closed and is not queryable")) }
  await expect(createPostgresStorage({ client }).head("a")).rejects.toMatchObject({ code: "closed" })
})

test("a connection of a pool that has ended is not used again, and the statement goes to another one", async () => {
  const released: unknown[] = []
  const connections = [
    () => Promise.reject(new Error("Client has encountered a connection error and is not queryable")),
    () => Promise.resolve({ rows: [{ n: 1 }] }),
  ].map((query): PooledConnection => ({ query, release: (...of) => void released.push(...of), on: () => undefined }))
  const db = createDatabase(
    poolOf(() => Promise.resolve(connections.shift() as PooledConnection)),
    false,
  )
  expect(await db.query("SELECT 1")).toEqual([{ n: 1 }])
  expect(released).toEqual([true, false])
})

test("a pool whose connections end each time is `unavailable`, not `closed`", async () => {
  const query = () => Promise.reject(new Error("Client has encountered a connection error and is not queryable"))
  const db = createDatabase(
    poolOf(() => Promise.resolve({ query, release: () => undefined, on: () => undefined })),
    false,
  )
  const failure: unknown = await db.transaction((tx) => tx.query("SELECT 1")).catch((error: unknown) => error)
  expect(toError(failure, { doing: "read" })).toMatchObject({ code: "unavailable" })
})

test("the wait for a connection has a limit, and a connection that comes later goes back", async () => {
  let give: (connection: PooledConnection) => void = () => undefined
  const pool = poolOf(() => new Promise((resolve) => (give = resolve)))
  await expect(createPostgresStorage({ client: pool, timeout: 20 }).head("a")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("no connection of the pool was free for 20 ms") as string,
  })
  const released = new Promise((resolve) => give({ query: never, release: resolve, on: () => undefined }))
  expect(await released).toBeUndefined()
})

test("the wait for an answer has a limit: the connection is not used again, and a write may have happened", async () => {
  const destroyed: unknown[] = []
  const connection: PooledConnection = {
    query: never,
    release: (...of) => void destroyed.push(...of),
    on: () => undefined,
  }
  const db = createDatabase(
    poolOf(async () => connection),
    false,
    20,
  )
  await expect(db.make("INSERT")).rejects.toMatchObject({ name: "UnknownOutcome" })
  expect(destroyed).toEqual([true])
})

test("the limit of a wait is a second longer for each 50 KB that are sent", async () => {
  const waits = vi.spyOn(globalThis, "setTimeout")
  onTestFinished(() => waits.mockRestore())
  const client = { query: async () => ({ rows: [] }) }
  await createDatabase(client, false, 5_000).make("INSERT", [new Uint8Array(1_000_000)])
  expect(waits.mock.calls.map(([, ms]) => ms)).toContain(25_000)
})

test("each statement says how its values are read, so that parsers of the application change nothing", async () => {
  const asked: unknown[] = []
  const connection: PooledConnection = {
    query: async (statement) => (asked.push(statement), { rows: [] }),
    release: () => undefined,
    on: () => undefined,
  }
  await createDatabase(
    poolOf(async () => connection),
    false,
  ).query("SELECT 1")
  expect(asked).toMatchObject([{ types: TYPES }])
  const parse = (oid: number, text: string): unknown => TYPES.getTypeParser(oid)(text)
  expect([parse(16, "t"), parse(16, "f"), parse(20, "1"), parse(23, "1"), parse(25, "1")]).toEqual([
    true,
    false,
    "1",
    1,
    "1",
  ])
  expect([...(parse(17, String.raw`\x00ff`) as Uint8Array)]).toEqual([0, 255])
  expect([...(parse(17, String.raw`a\\b\000\377`) as Uint8Array)]).toEqual([97, 92, 98, 0, 255])
})

test("an SQLSTATE without a row of its own is told as its class", () => {
  expect(failureOf("55000", "")?.code).toBe("misconfigured")
  expect(failureOf("57P01", "")?.code).toBe("unavailable")
  expect(failureOf("ECONNREFUSED", "")?.code).toBe("unavailable")
  expect(failureOf("99999", "")).toBeUndefined()
  expect(new Set(FAILURES.map(({ when }) => when)).size).toBe(FAILURES.length)
})
