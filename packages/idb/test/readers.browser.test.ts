/** Reads of a log whose rows are merged at the same time. */
import { checkRange } from "@sessions/core/storage"
import * as fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { compactRows } from "../src/log/compact-rows.ts"
import { readLog } from "../src/log/read.ts"
import { readTransaction } from "../src/database/transaction.ts"
import { counts, newDatabase, open, readAll } from "./databases.ts"

const ROUNDS = 200

const rounds = fc.record({
  batches: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 20, maxLength: 60 }),
  /** In bytes; a few rows, so that a short log has many pages. */
  page: fc.integer({ min: 100, max: 2_000 }),
  /** The row size of each compaction, in bytes. */
  rowSizes: fc.array(fc.integer({ min: 150, max: 5_000 }), { minLength: 1, maxLength: 4 }),
  from: fc.nat(40),
})

test(`a reader gets every line once while another connection compacts the rows and a third appends (${ROUNDS} random rounds)`, async () => {
  const database = newDatabase()
  const storage = open(database)
  const connections = ["reader", "compacting"].map((description) => createConnection({ database, description }))
  onTestFinished(async () => void (await Promise.all(connections.map((connection) => connection.close()))))
  const [reader, compacting] = connections as [(typeof connections)[0], (typeof connections)[0]]
  let round = 0
  let merged = 0
  const property = fc.asyncProperty(rounds, async ({ batches, page, rowSizes, from }) => {
    const session = `s${round++}`
    const lines: string[] = []
    let head: Awaited<ReturnType<typeof storage.append>> | 0 = 0
    for (const size of batches) {
      const batch = Array.from({ length: size }, (_, index) => `{"n":${lines.length + index}}`)
      lines.push(...batch)
      head = await storage.append(session, batch, { expect: head })
    }
    const compaction = (async () => {
      for (const rowSize of rowSizes) {
        const context = { connection: compacting, durability: "relaxed" } as const
        const { before, after } = await compactRows(context, session, undefined, rowSize)
        merged += before - after
      }
    })()
    const appending = storage.append(session, ["later"], { expect: head || { next: 0, log: "" } })
    const received: string[] = []
    const options = { onManySmallRows: () => undefined, pageBytes: page }
    const transaction = <T>(work: Parameters<typeof readTransaction<T>>[2]): Promise<T> =>
      readTransaction({ connection: reader }, ["heads", "log"], work)
    for await (const chunk of readLog(session, checkRange({ from }), { ...options, transaction })) {
      expect(chunk.from).toBe(from + received.length)
      received.push(...chunk.lines)
    }
    const windows: string[] = []
    for (let before = lines.length; before > 0; ) {
      const window: string[] = []
      const range = checkRange({ before, maxBytes: page })
      for await (const chunk of readLog(session, range, { ...options, transaction })) {
        expect(chunk.from + chunk.lines.length).toBeLessThanOrEqual(before)
        window.push(...chunk.lines)
      }
      const first = before - window.length
      const bytes = (from: number): number => lines.slice(from, before).join("\n").length + 1
      expect(bytes(first)).toBeLessThanOrEqual(page)
      if (first > 0) expect(bytes(first - 1)).toBeGreaterThan(page)
      windows.unshift(...window)
      before = first
    }
    expect(windows).toEqual(lines)
    await Promise.all([compaction, appending])
    expect(received.filter((line) => line !== "later")).toEqual(lines.slice(from))
    expect(await readAll(storage, session)).toEqual([...lines, "later"])
    await storage.delete(session)
  })
  await fc.assert(property, { numRuns: ROUNDS })
  expect(merged).toBeGreaterThan(ROUNDS)
})

test("two tabs that compact one log at once change no line", async () => {
  const database = newDatabase()
  const [one, other] = [open(database), open(database)]
  const lines = Array.from({ length: 200 }, (_, n) => `{"n":${n},"text":"${"x".repeat(1_000)}"}`)
  let head: Awaited<ReturnType<typeof one.append>> | 0 = 0
  for (const line of lines) head = await one.append("a", [line], { expect: head })
  const before = await one.head("a")
  const compacted = await Promise.all([one.compactRows("a"), other.compactRows("a")])
  expect(compacted.map((each) => each.before)).toEqual([200, expect.any(Number)])
  expect((await counts(database))["log"]).toBeLessThan(10)
  expect(await one.head("a")).toEqual(before)
  expect(await readAll(other, "a")).toEqual(lines)
})

test("a session that has been quiet is compacted automatically", async () => {
  const database = newDatabase()
  const storage = open(database)
  let head: Awaited<ReturnType<typeof storage.append>> | 0 = 0
  for (let n = 0; n < 64; n++) head = await storage.append("a", [`{"n":${n}}`], { expect: head })
  expect((await counts(database))["log"]).toBe(64)
  await expect.poll(async () => (await counts(database))["log"]).toBe(1)
  expect((await readAll(storage, "a")).length).toBe(64)
})
