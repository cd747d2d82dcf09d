import type { Head } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import type { Case } from "../case/case.ts"
import { casesOf } from "../case/case.ts"
import { create, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

/** Crashes and faults: what a storage makes of a writer that died and of calls that the store did not answer. */
export const recover: readonly Case[] = casesOf("recover", [
  {
    n: 1,
    clause: "recover.crash",
    title: "what was acknowledged survives a crash, and the next writer goes on behind it",
    needs: needs.crash,
    async run({ storage, crash }) {
      const head = await create(storage, "a", linesTo(3))
      const version = await storage.docs.put("sessions/a/x", "{}", { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([1]))
      const next = await crash()
      await expectLog(next, "a", linesTo(3), "after the crash")
      equal((await next.docs.get("sessions/a/x"))?.version, version, "the version of its document")
      equal(await next.blobs.has(hash), true, "blobs.has()")
      await next.append("a", [line(3)], { expect: head })
      await expectLog(next, "a", linesTo(4), "after going on")
    },
  },
  {
    n: 2,
    clause: "recover.crash",
    title: "a crash with an append under way leaves whole lines, of an atomic batch all or none",
    needs: needs.crash,
    async run({ storage, crash, capabilities, sizes }) {
      const head = await create(storage, "a", [line("first")])
      const batch = linesTo(sizes.lines)
      const sending = storage.append("a", batch, { expect: head }).then(
        () => "done",
        () => "refused",
      )
      const creating = create(storage, "new", batch).then(
        () => "done",
        () => "refused",
      )
      const next = await crash()
      const [sent, made] = await Promise.all(
        [sending, creating].map((call) => Promise.race([call, Promise.resolve("unknown")])),
      )
      const added = (await readLines(next, "a")).slice(1)
      equalLines(added, batch.slice(0, added.length), "the lines that the crash left")
      const whole = added.length === 0 || added.length === batch.length
      if (capabilities.atomicBatch === "all") check(whole, "the lines of an atomic batch", "all or none", added.length)
      if (sent === "done") equal(added.length, batch.length, "the number of lines of an acknowledged batch")
      const created = await readLines(next, "new")
      if (created.length > 0 || made === "done")
        equalLines(created, batch, "the lines of a creation, which is always whole")
      const { log, next: seq } = (await next.head("a")) as Head
      await next.append("a", [line("next")], { expect: { log, next: seq } })
      await expectLog(next, "a", [line("first"), ...added, line("next")], "after going on")
    },
  },
  {
    n: 3,
    clause: "append.quota",
    title: "an append without room is `quota` and leaves nothing, and the next one works",
    needs: needs.quota,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("quota")
      await rejects("quota", "an append without room", () => storage.append("a", linesTo(50, 2), { expect: head }))
      await expectLog(storage, "a", linesTo(2), "after the append that found no room")
      await storage.append("a", [line(2)], { expect: head })
      await expectLog(storage, "a", linesTo(3), "after the next append")
    },
  },
  {
    n: 4,
    clause: "append.lost",
    title: "an append whose answer was lost is acknowledged or `indeterminate`, never `conflict`, and there once",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("responseLost")
      const batch = [line("mine"), line("too")]
      try {
        equal(
          await storage.append("a", batch, { expect: head }),
          { next: 4, log: head.log },
          "the head that the append gave",
        )
      } catch (error) {
        await rejects("indeterminate", "the append", () => Promise.reject(error))
      }
      await expectLog(storage, "a", [...linesTo(2), ...batch], "after the lost answer")
    },
  },
  {
    n: 5,
    clause: "append.lost",
    title: "an append whose request was lost is written by another try, or refused with a code that is true",
    needs: needs.requestLost,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("requestLost")
      const batch = [line("mine"), line("too")]
      const outcome = await storage.append("a", batch, { expect: head }).then(
        () => "done",
        (error: unknown) => error,
      )
      const log = await readLines(storage, "a")
      if (outcome === "done") equalLines(log, [...linesTo(2), ...batch], "the log after an acknowledged append")
      else await rejects(["unavailable", "indeterminate"], "the append", () => Promise.reject(outcome))
      equalLines(log, log.length === 2 ? linesTo(2) : [...linesTo(2), ...batch], "the log after the lost request")
    },
  },
])
