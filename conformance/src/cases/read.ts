import type { ReadRange, SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import type { Case } from "../case/case.ts"
import { casesOf } from "../case/case.ts"
import {
  bigLines,
  checkChunk,
  collect,
  create,
  expectGone,
  line,
  linesTo,
  readFrom,
  readLines,
} from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const read: readonly Case[] = casesOf("read", [
  {
    n: 1,
    clause: "read.order",
    title: "without a range, and with an empty one, the whole log is read",
    async run({ storage }) {
      await create(storage, "a", linesTo(10))
      equal(await readFrom(storage, "a"), { from: 0, lines: linesTo(10) }, "read() without a range")
      equal(await readFrom(storage, "a", {}), { from: 0, lines: linesTo(10) }, "read() with {}")
    },
  },
  {
    n: 2,
    clause: "read.order",
    title: "`from` is inclusive, `to` exclusive, and the end of the log ends them both",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ from: 3 }, 3, 10],
        [{ to: 4 }, 0, 4],
        [{ from: 3, to: 7 }, 3, 7],
        [{ from: 9 }, 9, 10],
        [{ from: 0, to: 1 }, 0, 1],
        [{ from: 5, to: 1_000 }, 5, 10],
        [{ to: Number.MAX_SAFE_INTEGER }, 0, 10],
      ]),
  },
  {
    n: 3,
    clause: "read.order",
    title: "`last` counts backwards from the end or from `before`, and its lines come in log order",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ last: 3 }, 7, 10],
        [{ last: 1 }, 9, 10],
        [{ last: 10 }, 0, 10],
        [{ last: 1_000 }, 0, 10],
        [{ last: 3, before: 7 }, 4, 7],
        [{ last: 3, before: 10 }, 7, 10],
        [{ last: 3, before: 1_000 }, 7, 10],
        [{ last: 5, before: 2 }, 0, 2],
      ]),
  },
  {
    n: 4,
    clause: "read.order",
    title: "a range without lines yields nothing",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ from: 5, to: 5 }, 0, 0],
        [{ from: 7, to: 3 }, 0, 0],
        [{ from: 10 }, 0, 0],
        [{ from: 1_000 }, 0, 0],
        [{ to: 0 }, 0, 0],
        [{ last: 0 }, 0, 0],
        [{ last: 3, before: 0 }, 0, 0],
      ]),
  },
  {
    n: 5,
    clause: "read.order",
    title: "a range that is none is `invalid`",
    async run({ storage }) {
      await create(storage, "a")
      const bad: readonly unknown[] = [
        { from: -1 },
        { from: 0.5 },
        { to: -1 },
        { to: Number.NaN },
        { last: -1 },
        { last: 1.5 },
        { last: Number.POSITIVE_INFINITY },
        { last: 1, before: -1 },
        { last: 1, from: 0 },
        { from: "1" },
      ]
      for (const range of bad) {
        const what = `read() with ${JSON.stringify(range)}`
        await rejects("invalid", what, () => collect(storage.read("a", range as ReadRange)))
      }
    },
  },
  {
    n: 6,
    clause: "read.missing",
    title: "a missing session yields nothing, whatever the range",
    async run({ storage }) {
      await create(storage, "a")
      for (const range of [undefined, { from: 1 }, { last: 5 }])
        equal(await collect(storage.read("nobody", range)), [], "the chunks")
    },
  },
  {
    n: 7,
    clause: "read.chunks",
    title: "a long log comes in contiguous chunks of at most 256 KB, one longer line alone",
    async run({ storage, sizes }) {
      const lines = bigLines(sizes.logBytes)
      const long = JSON.stringify({ long: "x".repeat(400_000) })
      lines.splice(Math.floor(lines.length / 2), 0, long)
      await create(storage, "a", lines)
      // readFrom holds every chunk to the rules.
      const { lines: came } = await readFrom(storage, "a")
      equalLines(came, lines, "the whole log")
      const last = await readFrom(storage, "a", { last: lines.length - 3 })
      equal(last.from, 3, "the first seq of all but three lines")
      equalLines(last.lines, lines.slice(3), "all but three lines")
    },
  },
  {
    n: 8,
    clause: "read.order",
    title: "ranges of a long log are exact, whether they start or end inside of what is stored together",
    async run({ storage, sizes }) {
      const lines = bigLines(sizes.logBytes)
      const half = Math.floor(lines.length / 2)
      const head = await create(storage, "a", lines.slice(0, half))
      await storage.append("a", lines.slice(half), { expect: head })
      for (const at of [1, 100, half - 1, half, half + 1, lines.length - 1]) {
        equal(
          await readFrom(storage, "a", { from: at, to: at + 1 }),
          { from: at, lines: [lines[at]] },
          `the line at ${at}`,
        )
        equal(
          await readFrom(storage, "a", { last: 1, before: at + 1 }),
          { from: at, lines: [lines[at]] },
          `the last line before ${at + 1}`,
        )
      }
      equalLines(
        await readLines(storage, "a", { from: 7, to: lines.length - 7 }),
        lines.slice(7, -7),
        "all but seven on each side",
      )
    },
  },
  {
    n: 9,
    clause: "read.order",
    title: "a log read backwards, page by page, is the log",
    async run({ storage }) {
      await create(storage, "a", linesTo(100))
      const pages: string[][] = []
      let before: number | undefined
      while (before !== 0) {
        const page = await readFrom(storage, "a", { last: 7, ...(before !== undefined && { before }) })
        check(page.lines.length > 0, `the page before ${before}`, "at least one line", 0)
        check(
          (page.from ?? 0) < (before ?? 100),
          `the first seq of the page before ${before}`,
          "one before that",
          page.from,
        )
        pages.unshift(page.lines)
        before = page.from ?? 0
      }
      equalLines(pages.flat(), linesTo(100), "the pages together")
    },
  },
  {
    n: 10,
    clause: "read.committed",
    title: "a read gives at least what was committed before it, also when the log grows under it",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      let head = await create(a, "a", lines)
      const came: string[] = []
      for await (const chunk of b.read("a")) {
        checkChunk(chunk, came.length)
        came.push(...chunk.lines)
        head = await a.append("a", [line(`added ${head.next}`)], { expect: head })
        lines.push(line(`added ${head.next - 1}`))
      }
      check(
        came.length >= Math.ceil(sizes.logBytes / 1_000),
        "the number of lines read",
        "all that stood there before the read",
        came.length,
      )
      equalLines(came, lines.slice(0, came.length), "the lines read")
    },
  },
  {
    n: 11,
    clause: "read.gone",
    title: "a reader whose log is deleted gets `conflict`",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      await create(a, "a", lines)
      await expectConflictWhile(b, lines, () => a.delete("a"))
    },
  },
  {
    n: 12,
    clause: "read.gone",
    title: "a reader whose log is deleted and made anew gets `conflict`, and no line of the new one",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      await create(a, "a", lines)
      await expectConflictWhile(b, lines, async () => {
        await a.delete("a")
        await create(
          a,
          "a",
          lines.map((one) => one.replace("{", '{"new":1,')),
        )
      })
    },
  },
  {
    n: 13,
    clause: "read.order",
    title: "two readers at once do not disturb each other, nor does one that stops early",
    async run({ storage, sizes }) {
      const lines = bigLines(sizes.logBytes)
      await create(storage, "a", lines)
      for await (const chunk of storage.read("a")) {
        checkChunk(chunk, 0)
        break
      }
      const [whole, half] = await Promise.all([readLines(storage, "a"), readLines(storage, "a", { from: 500 })])
      equalLines(whole, lines, "the whole log")
      equalLines(half, lines.slice(500), "the log from 500 on")
      await storage.delete("a")
      equal(await storage.head("a"), undefined, "head() after a delete that follows")
    },
  },
  {
    n: 14,
    clause: "signal.before",
    title: "a read with a signal that fired before is `aborted`, and one whose signal fires under way ends so too",
    async run({ storage, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      await rejects("aborted", "read() with a signal that fired", () =>
        collect(storage.read("a", {}, { signal: AbortSignal.abort() })),
      )
      const controller = new AbortController()
      await rejects("aborted", "read() with a signal that fires after the first chunk", async () => {
        for await (const _ of storage.read("a", {}, { signal: controller.signal })) controller.abort()
      })
    },
  },
  {
    n: 15,
    clause: "read.corrupt",
    title: "a line that is not UTF-8 is `corrupt`, before and after an append, until its session is deleted",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, reopen }) {
      const head = await create(storage, "a", linesTo(6))
      const spoiled = await corruptLine("a", 3)
      await rejects("corrupt", "a read that comes to it", () => readLines(spoiled, "a"))
      // Whether one can go on behind it is the storage's to say. It must not put anything in the line's place.
      await spoiled.append("a", [line("new")], { expect: head }).catch(() => undefined)
      await rejects("corrupt", "a read after the next append", () => readLines(spoiled, "a"))
      const next = await reopen()
      await rejects("corrupt", "a read by the next storage", () => readLines(next, "a"))
      const refused = await next.delete("a").then(
        () => undefined,
        (error: unknown) => error,
      )
      if (refused === undefined) await expectGone(next, "a", "after its delete")
      else await rejects("corrupt", "a delete of such a session, where it is refused", () => Promise.reject(refused))
    },
  },
])

async function expectRanges(
  storage: SessionStorage,
  ranges: readonly (readonly [ReadRange, number, number])[],
): Promise<void> {
  const lines = linesTo(10)
  const head = await create(storage, "a", lines.slice(0, 4))
  await storage.append("a", lines.slice(4), { expect: head })
  for (const [range, from, to] of ranges) {
    const expected = from === to ? { lines: [] } : { from, lines: lines.slice(from, to) }
    equal(await readFrom(storage, "a", range), expected, `read() of 10 lines with ${JSON.stringify(range)}`)
  }
}

/** Reads a long log, lets something happen after the first chunk, and demands a conflict after lines of the old log only. */
async function expectConflictWhile(
  reader: SessionStorage,
  lines: readonly string[],
  happen: () => Promise<unknown>,
): Promise<void> {
  const came: string[] = []
  await rejects("conflict", "the read, after its log was taken away", async () => {
    for await (const chunk of reader.read("a")) {
      came.push(...chunk.lines)
      if (came.length === chunk.lines.length) await happen()
    }
  })
  equalLines(came, lines.slice(0, came.length), "the lines that were read before")
}
