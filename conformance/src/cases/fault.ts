import type { Head, SessionStorage } from "@sessions/core/storage"
import { equal, rejects } from "../helpers/assert.ts"
import type { Case } from "../case/case.ts"
import { casesOf } from "../case/case.ts"
import { create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { both, needs } from "../case/needs.ts"
import { came } from "../runner/result.ts"

/** Stores that answer late, wrongly or not now. The plain ones, a lost request and a lost answer, are with the group `recover`. */
export const fault: readonly Case[] = casesOf("fault", [
  {
    n: 1,
    clause: "append.lost",
    title: "a creation whose answer was lost is there whole or not at all, and refused with a code that is true",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      await arm("responseLost")
      const outcome = await create(storage, "new", linesTo(3)).then(
        () => "done",
        (error: unknown) => error,
      )
      const there = (await storage.head("new")) !== undefined
      if (there) await expectLog(storage, "new", linesTo(3), "after the lost answer")
      if (outcome === "done") equal(there, true, "whether the acknowledged session is there")
      else await rejects(there ? "indeterminate" : LOST, "the creation", () => Promise.reject(outcome))
    },
  },
  {
    n: 2,
    clause: "append.lost",
    title: "after a lost answer the writer goes on behind its own lines",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("responseLost")
      await orUnknown(storage.append("a", [line(2)], { expect: head }))
      const { next, log } = (await storage.head("a")) as Head
      await storage.append("a", [line(3)], { expect: { next, log } })
      await expectLog(storage, "a", linesTo(4), "after going on")
    },
  },
  {
    n: 3,
    clause: "append.lost",
    title:
      "a write that arrives late stands directly after its head, or is not there: another writer's lines keep their place",
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
    title:
      "a store that asks to try again later delays an append, or makes it `unavailable`, and nothing is there twice",
    needs: needs.busy,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("busy")
      const outcome = await storage.append("a", [line(2), line(3)], { expect: head }).then(
        () => "done",
        (error: unknown) => error,
      )
      if (outcome !== "done") await rejects("unavailable", "the append", () => Promise.reject(outcome))
      await expectLog(storage, "a", linesTo(outcome === "done" ? 4 : 2), "after the busy store's answer")
      await goOn(storage)
    },
  },
])

/** What may be said of a write that is not there. */
const LOST = ["unavailable", "indeterminate"] as const

/** The append resolves, or nobody can say. */
async function orUnknown(append: Promise<Head>): Promise<"done" | "unknown"> {
  try {
    await append
    return "done"
  } catch (error) {
    await rejects("indeterminate", "the append", () => Promise.reject(error))
    return "unknown"
  }
}

async function goOn(storage: SessionStorage): Promise<void> {
  const { next, log } = (await storage.head("a")) as Head
  const outcome = storage.append("a", [line(next)], { expect: { next, log } }).then(() => "success", came)
  equal(await outcome, "success", "the append after the one that the fault was for")
  await expectLog(storage, "a", linesTo(next + 1), "after going on")
}
