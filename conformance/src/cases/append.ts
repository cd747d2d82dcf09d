/** Cases of `append`: the position and exact bytes of lines, invalid input, refusals and signals. */
import type { StorageAppendOptions } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { create, exactLines, expectGone, expectLog, line, linesTo, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const append: readonly Case[] = casesOf("append", [
  {
    n: 1,
    clause: "append.whole",
    title: "lines are appended directly after the head, and `next` grows by their number",
    async run({ storage }) {
      const first = await create(storage, "a", linesTo(2))
      const second = await storage.append("a", linesTo(3, 2), { expect: first })
      equal(second, { next: 5, log: first.log }, "the returned head")
      await expectLog(storage, "a", linesTo(5), "after two appends")
    },
  },
  {
    n: 2,
    clause: "append.whole",
    title: "the lines of a long batch keep their order, the last one too",
    async run({ storage, sizes }) {
      const head = await create(storage, "a", [line("first")])
      const after = await storage.append("a", linesTo(sizes.lines), { expect: head })
      await storage.append("a", [line("last")], { expect: after })
      await expectLog(storage, "a", [line("first"), ...linesTo(sizes.lines), line("last")], "after the batch")
    },
  },
  {
    n: 3,
    clause: "append.exact",
    title: "lines of one batch come back byte for byte: BOM, CR, U+2028, emoji, odd numbers and keys",
    async run({ storage }) {
      await create(storage, "a", exactLines)
      await expectLog(storage, "a", exactLines, "as one batch")
    },
  },
  {
    n: 4,
    clause: "append.exact",
    title: "each of these lines comes back alone, as the first line",
    async run({ storage }) {
      for (const [index, exact] of exactLines.entries()) {
        const head = await create(storage, `s${index}`, [exact])
        equalLines(await readLines(storage, `s${index}`), [exact], "a log of one line")
        await storage.append(`s${index}`, [exact], { expect: head })
        equalLines(await readLines(storage, `s${index}`), [exact, exact], "the same line appended")
      }
    },
  },
  {
    n: 5,
    clause: "append.exact",
    title: "these lines come back after reopening",
    needs: needs.reopening,
    async run({ storage, reopen }) {
      const head = await create(storage, "a", exactLines)
      await storage.append("a", exactLines, { expect: head })
      await expectLog(await reopen(), "a", [...exactLines, ...exactLines], "after reopening")
    },
  },
  {
    n: 6,
    clause: "append.exact",
    title: "a line of 300 KB between short ones comes back",
    async run({ storage }) {
      const lines = [line(0), JSON.stringify({ long: "aé👍".repeat(43_000) }), line(1)]
      const head = await create(storage, "a", lines)
      await storage.append("a", lines, { expect: head })
      await expectLog(storage, "a", [...lines, ...lines], "with the long lines")
    },
  },
  {
    n: 7,
    clause: "append.lines",
    title: "a line with LF or a lone surrogate, an empty line and a non-string are `invalid`, and nothing is written",
    async run({ storage }) {
      const bad: readonly unknown[] = [
        '{"a":\n1}',
        "{}\n",
        "\n",
        "",
        "\ud800",
        '{"t":"\udfff"}',
        "a\ud83d",
        undefined,
        null,
        7,
        {},
      ]
      const head = await create(storage, "a")
      for (const one of bad) {
        const batch = [line("good"), one, line("good")] as string[]
        await rejects("invalid", `a creation with the line ${JSON.stringify(one)}`, () => create(storage, "new", batch))
        await rejects("invalid", `an append with the line ${JSON.stringify(one)}`, () =>
          storage.append("a", batch, { expect: head }),
        )
      }
      await expectGone(storage, "new", "after the refused creations")
      await expectLog(storage, "a", linesTo(2), "after the refused appends")
    },
  },
  {
    n: 8,
    clause: "append.lines",
    title: "an empty batch is `invalid`",
    async run({ storage }) {
      const head = await create(storage, "a")
      await rejects("invalid", "a creation without lines", () => create(storage, "new", []))
      await rejects("invalid", "an append without lines", () => storage.append("a", [], { expect: head }))
      await expectGone(storage, "new", "after the refused creation")
      await expectLog(storage, "a", linesTo(2), "after the refused append")
    },
  },
  {
    n: 9,
    clause: "append.expect",
    title: "an append without a valid `expect` is `invalid`",
    async run({ storage }) {
      const { log } = await create(storage, "a")
      const bad: readonly unknown[] = [
        undefined,
        null,
        2,
        -1,
        "0",
        {},
        { next: 2 },
        { log },
        { next: -1, log },
        { next: 1.5, log },
      ]
      for (const expect of bad) {
        const options = { expect } as StorageAppendOptions
        await rejects("invalid", `expect: ${JSON.stringify(expect)}`, () => storage.append("a", [line(2)], options))
      }
      await expectLog(storage, "a", linesTo(2), "after the refused appends")
    },
  },
  {
    n: 10,
    clause: "append.refused",
    title: "after a refused append the next one works",
    async run({ storage }) {
      const head = await create(storage, "a")
      await rejects("invalid", "an append with a bad line", () => storage.append("a", ["\n"], { expect: head }))
      await rejects("conflict", "an append with a bad head", () =>
        storage.append("a", [line(2)], { expect: { ...head, next: 1 } }),
      )
      await storage.append("a", [line(2)], { expect: head })
      await expectLog(storage, "a", linesTo(3), "after the good append")
    },
  },
  {
    n: 11,
    clause: "append.whole",
    title: "40 appends, each made when the one before it resolves, are in order",
    async run({ storage }) {
      let last = create(storage, "a", [line(0)])
      for (let n = 1; n < 41; n++) last = last.then((head) => storage.append("a", [line(n)], { expect: head }))
      equal((await last).next, 41, "the `next` of the last head")
      await expectLog(storage, "a", linesTo(41), "after 41 appends")
    },
  },
  {
    n: 12,
    clause: "append.whole",
    title: "40 concurrent appends to 40 sessions all succeed",
    async run({ storage }) {
      const sessions = linesTo(40).map((_, n) => `s${n}`)
      const heads = await Promise.all(sessions.map((session, n) => create(storage, session, [line(n)])))
      await Promise.all(sessions.map((session, n) => storage.append(session, [line("x")], { expect: heads[n] ?? 0 })))
      for (const [n, session] of sessions.entries())
        await expectLog(storage, session, [line(n), line("x")], `of ${session}`)
    },
  },
  {
    n: 13,
    clause: "append.acknowledged",
    title: "an acknowledged append is visible to every reader at once",
    async run({ writers }) {
      const [a, b] = await writers()
      let head = await create(a, "a", [line(0)])
      for (let n = 1; n < 10; n++) {
        head = await a.append("a", [line(n)], { expect: head })
        equal((await b.head("a"))?.next, n + 1, `head() directly after append ${n}`)
        equalLines(await readLines(b, "a"), linesTo(n + 1), `the log directly after append ${n}`)
      }
    },
  },
  {
    n: 14,
    clause: "signal.before",
    title: "an append with an aborted signal is `aborted`, and nothing is written",
    async run({ storage }) {
      const signal = AbortSignal.abort()
      const head = await create(storage, "a")
      await rejects("aborted", "the creation", () => storage.append("new", [line(0)], { expect: 0, signal }))
      await rejects("aborted", "the append", () => storage.append("a", [line(2)], { expect: head, signal }))
      await expectGone(storage, "new", "after the aborted creation")
      await expectLog(storage, "a", linesTo(2), "after the aborted append")
      await storage.append("a", [line(2)], { expect: head })
    },
  },
  {
    n: 15,
    clause: "append.signal",
    title: "an append aborted after the call is whole or absent, and absent unless it was sent",
    async run({ storage, sizes }) {
      let head = await create(storage, "a", [line(0)])
      const batch = linesTo(sizes.lines)
      for (const ticks of [0, 1, 2, 5, 20]) {
        const controller = new AbortController()
        const sending = storage.append("a", batch, { expect: head, signal: controller.signal })
        const outcome = sending.then(
          () => "done",
          (error: unknown) => error,
        )
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
        controller.abort()
        const error = await outcome
        const aborted = error instanceof Error && (error as { code?: unknown }).code === "aborted"
        check(error === "done" || aborted, "the append's outcome", 'success or a rejection with code "aborted"', error)
        const sent = (error as { sent?: unknown }).sent === true
        // A sent write may have moved the head; then the next append needs the new one.
        const grown = await storage.append("a", [line("next")], { expect: head }).catch(async () => {
          const { next, log } = (await storage.head("a")) ?? head
          return storage.append("a", [line("next")], { expect: { next, log } })
        })
        const added = await readLines(storage, "a", { from: head.next })
        const there = error === "done" || (sent && added.length > 1)
        equalLines(
          added,
          there ? [...batch, line("next")] : [line("next")],
          `the lines added (${error === "done" ? "done" : `sent: ${sent}`})`,
        )
        head = grown
      }
    },
  },
])
