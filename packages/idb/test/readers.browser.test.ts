/** Readers of a log whose rows change under them. */
import * as fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { foldLog } from "../src/log/compact-rows.ts"
import { readLog } from "../src/log/read.ts"
import { reading } from "../src/database/transaction.ts"
import { counts, newDatabase, open, readAll } from "./databases.ts"
import { seededAsync } from "./seed.ts"

const ROUNDS = 200

const rounds = fc.record({
  batches: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 20, maxLength: 60 }),
  /** In bytes: pages of a few rows, so that a short log has many. */
  page: fc.integer({ min: 100, max: 2_000 }),
  /** What is folded to, a fold each. */
  folds: fc.array(fc.integer({ min: 150, max: 5_000 }), { minLength: 1, maxLength: 4 }),
  from: fc.nat(40),
})

test(`a reader that pages while another connection folds, and a third appends, misses no line and gets none twice (${ROUNDS} random rounds)`, async () => {
  const database = newDatabase()
  const storage = open(database)
  const connections = ["reader", "folder"].map((description) => createConnection({ database, description }))
  onTestFinished(async () => void (await Promise.all(connections.map((connection) => connection.close()))))
  const [reader, folder] = connections as [(typeof connections)[0], (typeof connections)[0]]
  let round = 0
  let moved = 0
  const property = fc.asyncProperty(rounds, async ({ batches, page, folds, from }) => {
    const session = `s${round++}`
    const lines: string[] = []
    let head: Awaited<ReturnType<typeof storage.append>> | 0 = 0
    for (const size of batches) {
      const batch = Array.from({ length: size }, (_, index) => `{"n":${lines.length + index}}`)
      lines.push(...batch)
      head = await storage.append(session, batch, { expect: head })
    }
    const folding = (async () => {
      for (const most of folds) {
        const { before, after } = await foldLog({ connection: folder, durability: "relaxed" }, session, undefined, most)
        moved += before - after
      }
    })()
    const appending = storage.append(session, ["later"], { expect: head || { next: 0, log: "" } })
    const came: string[] = []
    const hooks = { enter: () => undefined, scattered: () => undefined, pageBytes: page }
    const transaction = <T>(work: Parameters<typeof reading<T>>[2]): Promise<T> =>
      reading(reader, ["heads", "log"], work)
    for await (const chunk of readLog(session, { from, to: Infinity }, { ...hooks, transaction })) {
      expect(chunk.from).toBe(from + came.length)
      came.push(...chunk.lines)
    }
    await Promise.all([folding, appending])
    expect(came.filter((line) => line !== "later")).toEqual(lines.slice(from))
    expect(await readAll(storage, session)).toEqual([...lines, "later"])
    await storage.delete(session)
  })
  await seededAsync(property, ROUNDS)
  expect(moved).toBeGreaterThan(ROUNDS)
})

test("two tabs that fold one log at once leave every line where it was", async () => {
  const database = newDatabase()
  const [one, other] = [open(database), open(database)]
  const lines = Array.from({ length: 200 }, (_, n) => `{"n":${n},"text":"${"x".repeat(1_000)}"}`)
  let head: Awaited<ReturnType<typeof one.append>> | 0 = 0
  for (const line of lines) head = await one.append("a", [line], { expect: head })
  const before = await one.head("a")
  const folded = await Promise.all([one.fold("a"), other.fold("a")])
  expect(folded.map((each) => each.before)).toEqual([200, expect.any(Number)])
  expect((await counts(database))["log"]).toBeLessThan(10)
  expect(await one.head("a")).toEqual(before)
  expect(await readAll(other, "a")).toEqual(lines)
})

test("a session that has been quiet is folded by itself", async () => {
  const database = newDatabase()
  const storage = open(database)
  let head: Awaited<ReturnType<typeof storage.append>> | 0 = 0
  for (let n = 0; n < 64; n++) head = await storage.append("a", [`{"n":${n}}`], { expect: head })
  expect((await counts(database))["log"]).toBe(64)
  await expect.poll(async () => (await counts(database))["log"], { timeout: 20_000 }).toBe(1)
  expect((await readAll(storage, "a")).length).toBe(64)
})
