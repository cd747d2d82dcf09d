import { check, equal, equalLines } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, checkChunk, create, expectRanges, line, linesTo, readFrom } from "../helpers/lines.ts"

/** Windows: the last lines before a seq that fit a number of bytes. */
export const readWindows: readonly Case[] = casesOf("read", [
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
])
