/** Runs in the page: appends and a replay through a session, alternately with the same transactions by hand. */
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createIndexedDbStorage } from "@sessions/idb"
import { lineOf, message } from "../data.ts"
import { inTurns, milliseconds, type Pair, verify } from "../rounds.ts"
import { createByHand, replayByHand } from "./by-hand.ts"

export interface PageFigures {
  /** Milliseconds of a round. */
  readonly pair: Pair
  readonly work: Readonly<Record<string, number>>
  /** `navigator.userAgent`. */
  readonly userAgent: string
}

export interface PageBenchmarks {
  append(o: { readonly count: number; readonly rounds: number }): Promise<PageFigures>
  replay(o: { readonly bytes: number; readonly rounds: number }): Promise<PageFigures>
}

const LINES_A_BATCH = 100

const benchmarks: PageBenchmarks = {
  async append({ count, rounds }) {
    const storage = createIndexedDbStorage({ database: "append" })
    const sessions = createSessions({ storage })
    const byHand = await createByHand("append-by-hand", durabilityOf(storage))
    // One session for all rounds: idle rows are compacted after two seconds, which is no part of an append.
    const session = await sessions.create()
    const counted = { ours: 0, raw: 0 }
    const pair = await inTurns(
      {
        async ours() {
          const before = transactionsOf("append")
          const time = await milliseconds(async () => {
            for (let i = 0; i < count; i++) await session.append(message(i))
          })
          counted.ours = transactionsOf("append") - before
          return time
        },
        async raw(round) {
          const before = transactionsOf("append-by-hand")
          const time = await milliseconds(async () => {
            for (let i = 0; i < count; i++) await byHand.append("s", lineOf(i).slice(0, -1), round * count + i)
          })
          counted.raw = transactionsOf("append-by-hand") - before
          return time
        },
      },
      rounds,
    )
    const all = count * (rounds + 1)
    verify((await session.info()).messageCount === all, "not every message is in the log")
    verify((await byHand.next("s")) === all, "not every line is in the log by hand")
    await sessions.close()
    byHand.close()
    const work = { "transactions/append": counted.ours / count, "transactions/append raw": counted.raw / count }
    return { pair, work, userAgent: navigator.userAgent }
  },

  async replay({ bytes, rounds }) {
    const storage = createIndexedDbStorage({ database: "replay" })
    const sessions = createSessions({ storage })
    const session = await sessions.create()
    for (let i = 0; (await session.parts()).bytes < bytes; i += LINES_A_BATCH) {
      await session.append(Array.from({ length: LINES_A_BATCH }, (_, k) => message(i + k)))
    }
    // The storage compacts idle rows by itself after two seconds.
    await storage.compactRows(session.id)
    const counted = { entries: 0, ours: 0, raw: 0 }
    const pair = await inTurns(
      {
        async ours() {
          const before = transactionsOf("replay")
          let entries = 0
          const time = await milliseconds(async () => {
            for await (const _ of session.entries()) entries++
          })
          counted.ours = transactionsOf("replay") - before
          counted.entries = entries
          return time
        },
        async raw() {
          const before = transactionsOf("replay")
          let lines = 0
          const time = await milliseconds(async () => {
            lines = await replayByHand("replay", session.id)
          })
          counted.raw = transactionsOf("replay") - before
          // The first line is the header.
          verify(lines === counted.entries + 1, `${lines} lines by hand, ${counted.entries} entries`)
          return time
        },
      },
      rounds,
    )
    await sessions.close()
    const work = { entries: counted.entries, transactions: counted.ours, "transactions raw": counted.raw }
    return { pair, work, userAgent: navigator.userAgent }
  },
}

/** The number of transactions by the name of their database. */
const transactions = new Map<string, number>()
Object.defineProperty(IDBDatabase.prototype, "transaction", {
  value: new Proxy(Reflect.get(IDBDatabase.prototype, "transaction") as (...args: unknown[]) => IDBTransaction, {
    apply(begin, db: IDBDatabase, args) {
      transactions.set(db.name, transactionsOf(db.name) + 1)
      return Reflect.apply(begin, db, args)
    },
  }),
})

function transactionsOf(name: string): number {
  return transactions.get(name) ?? 0
}

/** The durability that the storage uses by default. */
function durabilityOf({ capabilities }: SessionStorage): "relaxed" | "strict" {
  return capabilities.durability === "disk" ? "strict" : "relaxed"
}

Object.assign(globalThis, { benchmarks })
