import type { ReadRange, SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
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
import { show } from "../helpers/show.ts"
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
    clause: "read.window",
    title: "a window has the last lines before `before`, or before the end, that fit `maxBytes`, in log order",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ maxBytes: 10 }, 9, 10],
        [{ maxBytes: 27 }, 7, 10],
        [{ maxBytes: 90 }, 0, 10],
        [{ maxBytes: Number.MAX_SAFE_INTEGER }, 0, 10],
        [{ maxBytes: 27, before: 7 }, 4, 7],
        [{ maxBytes: 27, before: 10 }, 7, 10],
        [{ maxBytes: 45, before: 2 }, 0, 2],
        [{ maxBytes: 10, before: 1 }, 0, 1],
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
      ]),
  },
  {
    n: 5,
    clause: "read.arguments",
    title: "a value that no seq, number of bytes or identity has is `invalid`",
    async run({ storage }) {
      await create(storage, "a")
      const bad: readonly unknown[] = [
        { from: -1 },
        { from: 0.5 },
        { to: -1 },
        { to: Number.NaN },
        { from: "1" },
        { from: null },
        { maxBytes: 0 },
        { maxBytes: -1 },
        { maxBytes: 1.5 },
        { maxBytes: Number.NaN },
        { maxBytes: Number.POSITIVE_INFINITY },
        { maxBytes: "1" },
        { maxBytes: null },
        { maxBytes: 1, before: -1 },
        { maxBytes: 1, before: 0.5 },
        { log: 1 },
        { log: null },
        { maxBytes: 1, log: {} },
      ]
      for (const range of bad) await refusesRange(storage, range)
    },
  },
  {
    n: 6,
    clause: "read.missing",
    title: "a missing session yields nothing, whatever the range",
    async run({ storage }) {
      await create(storage, "a")
      for (const range of [undefined, { from: 1 }, { maxBytes: 5 }, { maxBytes: 5, before: 3 }])
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
      const window = await readFrom(storage, "a", { maxBytes: 1_000_000_000, before: lines.length - 3 })
      equal(window.from, 0, "the first seq of all but three lines")
      equalLines(window.lines, lines.slice(0, -3), "all but three lines")
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
          // A line has from 997 to 1,003 bytes, so that a second one does not fit.
          await readFrom(storage, "a", { maxBytes: 1_010, before: at + 1 }),
          { from: at, lines: [lines[at]] },
          `the window of one line before ${at + 1}`,
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
    clause: "read.window",
    title: "a log read backwards, window by window, is the log",
    async run({ storage }) {
      await create(storage, "a", linesTo(100))
      const pages: string[][] = []
      let before: number | undefined
      while (before !== 0) {
        const page = await readFrom(storage, "a", { maxBytes: 60, ...(before !== undefined && { before }) })
        check(page.lines.length > 0, `the window before ${before}`, "at least one line", 0)
        check(
          (page.from ?? 0) < (before ?? 100),
          `the first seq of the window before ${before}`,
          "one before that",
          page.from,
        )
        pages.unshift(page.lines)
        before = page.from ?? 0
      }
      equalLines(pages.flat(), linesTo(100), "the windows together")
    },
  },
  {
    n: 10,
    clause: "read.committed",
    title: "a read gives what was committed before it, and nothing of what is appended while it goes on",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      let head = await create(a, "a", lines)
      const came: string[] = []
      for await (const chunk of b.read("a")) {
        checkChunk(chunk, came.length)
        came.push(...chunk.lines)
        head = await a.append("a", [line(`added ${head.next}`)], { expect: head })
      }
      equalLines(came, lines, "the lines read")
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
  {
    n: 16,
    clause: "read.window",
    title: "lines that come to exactly `maxBytes` fit, with an LF for each, and one byte less holds a line less",
    run: ({ storage }) =>
      // Each line has 7 bytes and its LF.
      expectRanges(storage, [
        [{ maxBytes: 8 }, 9, 10],
        [{ maxBytes: 24 }, 7, 10],
        [{ maxBytes: 23 }, 8, 10],
        [{ maxBytes: 80 }, 0, 10],
        [{ maxBytes: 79 }, 1, 10],
        [{ maxBytes: 32, before: 6 }, 2, 6],
        [{ maxBytes: 31, before: 6 }, 3, 6],
      ]),
  },
  {
    n: 17,
    clause: "read.window",
    title: "a line longer than `maxBytes` is given alone if it is the last one, and not at all if another one is",
    async run({ storage }) {
      const long = JSON.stringify("x".repeat(300_000))
      const lines = [line("before"), long, line("behind")]
      await create(storage, "a", lines)
      for (const maxBytes of [1, 1_000, 290_000]) {
        const alone = await readFrom(storage, "a", { maxBytes, before: 2 })
        equal(alone.from, 1, `the first seq of a window of ${maxBytes} bytes that ends in a longer line`)
        equalLines(alone.lines, [long], `a window of ${maxBytes} bytes that ends in a longer line`)
      }
      equal(await readFrom(storage, "a", { maxBytes: 1 }), { from: 2, lines: lines.slice(2) }, "a window of one byte")
      equal(
        await readFrom(storage, "a", { maxBytes: 290_000 }),
        { from: 2, lines: lines.slice(2) },
        "a window that a long line before does not fit",
      )
    },
  },
  {
    n: 18,
    clause: "read.window",
    title: "a window counts UTF-8 bytes, whatever characters its lines have",
    async run({ storage }) {
      // With an LF each they have 6, 5, 7 and 6 bytes.
      const lines = ['"\u20ac"', '"\u00e9"', '"\u{1F600}"', '"\uFEFF"']
      await create(storage, "a", lines)
      const expected = [
        [25, 0],
        [19, 1],
        [14, 2],
        [10, 3],
      ] as const
      for (const [maxBytes, from] of expected) {
        const window = await readFrom(storage, "a", { maxBytes })
        equal(window, { from, lines: lines.slice(from) }, `a window of ${maxBytes} bytes`)
      }
    },
  },
  {
    n: 19,
    clause: "read.order",
    title: "a window before a seq beyond the end is one before the end",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ maxBytes: 27, before: 11 }, 7, 10],
        [{ maxBytes: 27, before: 1_000 }, 7, 10],
        [{ maxBytes: 90, before: Number.MAX_SAFE_INTEGER }, 0, 10],
      ]),
  },
  {
    n: 20,
    clause: "read.window",
    title: "a window before the first line yields nothing",
    run: ({ storage }) =>
      expectRanges(storage, [
        [{ maxBytes: 1, before: 0 }, 0, 0],
        [{ maxBytes: 1_000_000, before: 0 }, 0, 0],
      ]),
  },
  {
    n: 21,
    clause: "read.window",
    title: "windows of a long log are exact, wherever in what is stored together they begin and end",
    async run({ storage, sizes }) {
      const lines = Array.from({ length: Math.ceil(sizes.logBytes / 1_001) }, (_, n) =>
        JSON.stringify(`${n}`.padEnd(998)),
      )
      const half = Math.floor(lines.length / 2)
      const head = await create(storage, "a", lines.slice(0, half))
      await storage.append("a", lines.slice(half), { expect: head })
      const ends = [lines.length, lines.length - 1, half + 1, half, half - 1, 3]
      for (const [count, maxBytes] of [
        [300, 300_500],
        [100, 100_500],
        [7, 7_500],
      ] as const) {
        for (const before of ends) {
          const from = Math.max(0, before - count)
          const window = await readFrom(storage, "a", { maxBytes, before })
          equal(window.from, from, `the first seq of the window of ${maxBytes} bytes before ${before}`)
          equalLines(window.lines, lines.slice(from, before), `the window of ${maxBytes} bytes before ${before}`)
        }
      }
    },
  },
  {
    n: 22,
    clause: "read.log",
    title: "a read that names the log reads that log, and is `conflict` if there is another one",
    async run({ storage }) {
      const { log: old } = await create(storage, "a", linesTo(10))
      const whole = { from: 0, lines: linesTo(10) }
      equal(await readFrom(storage, "a", { log: old }), whole, "the log, by its identity")
      equal(await readFrom(storage, "a", { maxBytes: 90, log: old }), whole, "a window of the log, by its identity")
      await storage.delete("a")
      const { log } = await create(storage, "a", linesTo(10))
      equal(await readFrom(storage, "a", { log }), whole, "the log made anew, by its identity")
      for (const other of [old, `${log}x`, ""]) for (const range of rangesOf(other)) await conflicts(storage, range)
    },
  },
  {
    n: 23,
    clause: "read.log",
    title: "a read that names the log of a session that is missing or was deleted is `conflict`",
    async run({ storage }) {
      for (const range of rangesOf("l")) await conflicts(storage, range)
      const { log } = await create(storage, "a", linesTo(10))
      await storage.delete("a")
      for (const range of rangesOf(log)) await conflicts(storage, range)
    },
  },
  {
    n: 24,
    clause: "read.committed",
    title: "a window gives what was committed before it, and nothing of what is appended while it goes on",
    async run({ writers, sizes }) {
      const [a, b] = await writers()
      const lines = bigLines(sizes.logBytes)
      let head = await create(a, "a", lines)
      const came: string[] = []
      for await (const chunk of b.read("a", { maxBytes: 1_000_000_000 })) {
        checkChunk(chunk, came.length)
        came.push(...chunk.lines)
        head = await a.append("a", [line(`added ${head.next}`)], { expect: head })
      }
      equalLines(came, lines, "the lines of the window")
    },
  },
  {
    n: 25,
    clause: "read.damage",
    title: "windows begin after a line of invalid UTF-8, so that all lines after it can be read",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, sizes }) {
      const lines = bigLines(sizes.logBytes)
      await create(storage, "a", lines)
      const corrupted = await corruptLine("a", 5)
      for (let before = lines.length; before > 6; ) {
        const what = `the window before ${before}, of a log whose line 5 is damaged`
        const window = await readFrom(corrupted, "a", { maxBytes: 200_000, before })
        const { from = 0 } = window
        check(from >= 6 && from < before, `the first seq of ${what}`, `from 6 to ${before - 1}`, window.from)
        equalLines(window.lines, lines.slice(from, before), what)
        before = from
      }
    },
  },
  {
    n: 26,
    clause: "read.damage",
    title: "a window whose last line is invalid UTF-8 is `corrupt`",
    needs: needs.corruptLine,
    async run({ storage, corruptLine, sizes }) {
      await create(storage, "a", bigLines(sizes.logBytes))
      const corrupted = await corruptLine("a", 5)
      for (const maxBytes of [1, 3_000, 200_000]) {
        const what = `a window of ${maxBytes} bytes whose last line is damaged`
        await rejects("corrupt", what, () => collect(corrupted.read("a", { maxBytes, before: 6 })))
      }
    },
  },
  {
    n: 27,
    clause: "read.arguments",
    title: "`maxBytes` with `from` or `to`, and `before` without `maxBytes`, are `invalid`",
    async run({ storage }) {
      await create(storage, "a")
      const bad: readonly unknown[] = [
        { maxBytes: 100, from: 0 },
        { maxBytes: 100, to: 2 },
        { maxBytes: 100, before: 2, from: 0 },
        { before: 2 },
        { from: 0, before: 2 },
        { to: 2, before: 2 },
      ]
      for (const range of bad) await refusesRange(storage, range)
    },
  },
])

/** Ranges with lines and without, all of them of one log. */
function rangesOf(log: string): readonly ReadRange[] {
  return [
    { log },
    { from: 3, to: 5, log },
    { from: 5, to: 5, log },
    { from: 1_000, log },
    { maxBytes: 20, log },
    { maxBytes: 20, before: 5, log },
    { maxBytes: 20, before: 0, log },
  ]
}

async function conflicts(storage: SessionStorage, range: ReadRange): Promise<void> {
  const what = `read() with ${JSON.stringify(range)} of another log, or none`
  await rejects("conflict", what, () => collect(storage.read("a", range)))
}

async function refusesRange(storage: SessionStorage, range: unknown): Promise<void> {
  await rejects("invalid", `read() with ${show(range)}`, () => collect(storage.read("a", range as ReadRange)))
}

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
