/** Cases of crashes, and of stores that are full or lose a request or a response. */
import type { Head } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { create, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const recover: readonly Case[] = casesOf("recover", [
  {
    n: 1,
    clause: "recover.crash",
    title: "acknowledged writes survive a crash, and the next writer can append",
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
      await expectLog(next, "a", linesTo(4), "after the next append")
    },
  },
  {
    n: 2,
    clause: "recover.crash",
    title: "a crash during an append leaves whole lines, of an atomic batch all or none",
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
      await expectLog(next, "a", [line("first"), ...added, line("next")], "after the next append")
    },
  },
  {
    n: 3,
    clause: "append.quota",
    title: "an append to a full store is `quota` and writes nothing, and the next one works",
    needs: needs.quota,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("quota")
      await rejects("quota", "an append to a full store", () => storage.append("a", linesTo(50, 2), { expect: head }))
      await expectLog(storage, "a", linesTo(2), "after the refused append")
      await storage.append("a", [line(2)], { expect: head })
      await expectLog(storage, "a", linesTo(3), "after the next append")
    },
  },
  {
    n: 4,
    clause: "append.lost",
    title: "after a lost response an append is acknowledged or `indeterminate`, never `conflict`, and written once",
    needs: needs.responseLost,
    async run({ storage, arm }) {
      const head = await create(storage, "a", linesTo(2))
      await arm("responseLost")
      const batch = [line("mine"), line("too")]
      try {
        equal(await storage.append("a", batch, { expect: head }), { next: 4, log: head.log }, "the returned head")
      } catch (error) {
        await rejects("indeterminate", "the append", () => Promise.reject(error))
      }
      await expectLog(storage, "a", [...linesTo(2), ...batch], "after the lost response")
    },
  },
  {
    n: 5,
    clause: "append.lost",
    title: "after a lost request an append is written by a retry, or its error code is true",
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
