import type { ReadRange, SessionStorage } from "@sessions/core/storage"
import { equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { bigLines, checkChunk, collect, create, expectRanges, linesTo, readFrom, readLines } from "../helpers/lines.ts"
import { show } from "../helpers/show.ts"

/** Which lines a range has, and in which chunks they come. */
export const readRanges: readonly Case[] = casesOf("read", [
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

async function refusesRange(storage: SessionStorage, range: unknown): Promise<void> {
  await rejects("invalid", `read() with ${show(range)}`, () => collect(storage.read("a", range as ReadRange)))
}
