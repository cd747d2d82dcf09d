/** A reader of a log whose rows are merged at the same time. */
import { checkRange } from "@sessions/core/storage"
import * as fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { compactRows } from "../src/log/compact-rows.ts"
import { readLog } from "../src/log/read.ts"
import { readTransaction } from "../src/database/transaction.ts"
import { databaseOf, type ReadTransaction } from "../src/schema.ts"
import { newDatabase, open, readAll } from "./databases.ts"

const rounds = fc.record({
  batches: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 20, maxLength: 60 }),
  /** In bytes; a few rows, so that a short log has many pages. */
  page: fc.integer({ min: 100, max: 2_000 }),
  /** The row size of each compaction, in bytes. */
  rowSizes: fc.array(fc.integer({ min: 150, max: 5_000 }), { minLength: 1, maxLength: 4 }),
  from: fc.nat(40),
})

export function readerTest(count: number): void {
  test(`a reader gets every line once while another connection compacts the rows and a third appends (${count} random rounds)`, async () => {
    const database = newDatabase()
    const storage = open(database)
    const connections = ["reader", "compacting"].map(() => createConnection(databaseOf(database)))
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
      const transaction = <T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T> =>
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
    await fc.assert(property, { numRuns: count })
    expect(merged).toBeGreaterThan(count)
  })
}
