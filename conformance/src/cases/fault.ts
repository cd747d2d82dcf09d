/** Cases of stores that respond late, wrongly, or ask to retry. A lost request and a lost response of an append are in `recover.ts`. */
import type { Head, SessionStorage } from "@sessions/core/storage"
import { equal, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { both, needs } from "../case/needs.ts"
import { showError } from "../helpers/show.ts"

export const fault: readonly Case[] = casesOf("fault", [
  {
    n: 1,
    clause: "append.lost",
    title: "after a lost response a creation is whole or absent, and its error code is true",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      await arm("responseLost")
      const outcome = await create(storage, "new", linesTo(3)).then(
        () => "done",
        (error: unknown) => error,
      )
      const exists = (await storage.head("new")) !== undefined
      if (exists) await expectLog(storage, "new", linesTo(3), "after the lost response")
      if (outcome === "done") equal(exists, true, "whether the acknowledged session exists")
      else await rejects(exists ? "indeterminate" : NOT_WRITTEN, "the creation", () => Promise.reject(outcome))
    },
  },
  {
    n: 2,
    clause: "append.lost",
    title: "after a lost response the writer can append behind its own lines",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("responseLost")
      await orUnknown(storage.append("a", [line(2)], { expect: head }))
      const { next, log } = (await storage.head("a")) as Head
      await storage.append("a", [line(3)], { expect: { next, log } })
      await expectLog(storage, "a", linesTo(4), "after the next append")
    },
  },
  {
    n: 3,
    clause: "append.lost",
    title: "a late write is appended directly after its head or not at all, and another writer's lines keep their seqs",
    needs: both(needs.late, needs.twoWriters),
    async run({ storage, open, arm }) {
      const other = await open()
      const head = await create(storage, "a", linesTo(2))
      const deliver = await arm("late")
      const late = [line("late"), line("too")]
      const outcome = await orUnknown(storage.append("a", late, { expect: head }))
      const mine = [line("mine"), line("whole"), line("three")]
      const { next, log } = (await other.head("a")) as Head
      await other.append("a", mine, { expect: { next, log } })
      await deliver()
      const before = next === 2 && outcome === "unknown" ? linesTo(2) : [...linesTo(2), ...late]
      await expectLog(other, "a", [...before, ...mine], "after the late write")
    },
  },
  {
    n: 4,
    clause: "append.busy",
    title: "a busy store delays an append or makes it `unavailable`, and writes nothing twice",
    needs: needs.busy,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("busy")
      const outcome = await storage.append("a", [line(2), line(3)], { expect: head }).then(
        () => "done",
        (error: unknown) => error,
      )
      if (outcome !== "done") await rejects("unavailable", "the append", () => Promise.reject(outcome))
      await expectLog(storage, "a", linesTo(outcome === "done" ? 4 : 2), "after the busy store's response")
      await appendNext(storage)
    },
  },
])

/** The codes that are true of a write that did not happen. */
const NOT_WRITTEN = ["unavailable", "indeterminate"] as const

/** The append must resolve, or reject with `indeterminate`. */
async function orUnknown(append: Promise<Head>): Promise<"done" | "unknown"> {
  try {
    await append
    return "done"
  } catch (error) {
    await rejects("indeterminate", "the append", () => Promise.reject(error))
    return "unknown"
  }
}

async function appendNext(storage: SessionStorage): Promise<void> {
  const { next, log } = (await storage.head("a")) as Head
  const outcome = storage.append("a", [line(next)], { expect: { next, log } }).then(() => "success", showError)
  equal(await outcome, "success", "the append after the faulty one")
  await expectLog(storage, "a", linesTo(next + 1), "after the next append")
}
