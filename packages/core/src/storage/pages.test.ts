import { expect, test } from "vitest"
import { MAX_CHUNK_BYTES } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { afterDamage, readRows, windowStart, type WindowStep } from "./pages.ts"

const damage = new StorageError("corrupt", "A line is not UTF-8.")

function* loading(lines: readonly (string | Error)[]): Generator<string> {
  for (const line of lines) {
    if (typeof line !== "string") throw line
    yield line
  }
}

test("a window begins with the oldest line that fits, loads one line more at most, and has one line at least", () => {
  expect(windowStart(["aaa", "bbb", "ccc"], 9, 8)).toBe(7)
  expect(windowStart(["aaa", "bbb", "ccc"], 9, 11)).toBe(7)
  expect(windowStart(["aaa", "bbb"], 2, 100)).toBe(0)
  expect(windowStart(["aaa", "bbb"], 2, 1)).toBe(1)
  expect(windowStart(["€", "bbb"], 2, 4)).toBe(1)
  expect(windowStart([], 5, 10)).toBe(5)
  const failed = new Error("loaded too much")
  expect(windowStart(loading(["aaa", "bbb", failed]), 9, 8)).toBe(7)
  expect(windowStart(loading(["aaa", "bbb", "ccc", failed]), 9, 9)).toBe(7)
})

test("a window begins after a line that is `corrupt`; that of the newest line, and any other error, is thrown", () => {
  expect(windowStart(loading(["aaa", "bbb", damage]), 9, 100)).toBe(7)
  expect(() => windowStart(loading([damage, "bbb"]), 9, 100)).toThrow(damage)
  expect(() => windowStart(loading(["aaa", new Error("no connection")]), 9, 100)).toThrow("no connection")
})

test("rows that load asynchronously are read in chunks and in windows, which begin after a `corrupt` line", async () => {
  const half = "x".repeat(MAX_CHUNK_BYTES / 2)
  const stored = ["aaa", damage, half, half, "eee"]
  const head = { next: stored.length, log: "1" }
  let loaded = 0
  const read = readRows(
    () => head,
    async function* (_session, _log, { from, to, newestFirst }) {
      const rows = stored.slice(from, to)
      for (const line of loading(newestFirst ? rows.reverse() : rows)) {
        loaded++
        yield line
      }
    },
  )
  const seqsAndLines = async (from: number, to: number, maxBytes?: number): Promise<[number, number][]> => {
    const chunks: [number, number][] = []
    for await (const { from: at, lines } of read("a", { from, to, maxBytes, log: undefined }, {}))
      chunks.push([at, lines.length])
    return chunks
  }
  // Each half has an LF, so two of them are more than a chunk.
  expect(await seqsAndLines(2, 5)).toEqual([
    [2, 1],
    [3, 2],
  ])
  expect(await seqsAndLines(0, 5, 10 * MAX_CHUNK_BYTES)).toEqual([
    [2, 1],
    [3, 2],
  ])
  await expect(seqsAndLines(0, 2, 100)).rejects.toBe(damage)
  loaded = 0
  expect(await seqsAndLines(0, 5, 4)).toEqual([[4, 1]])
  // One for the window, and one for its chunk.
  expect(loaded).toBe(2)
})

const step = (from: number, lines: readonly string[], broken?: Error): WindowStep => ({
  chunk: { from, lines },
  damage: broken,
})

async function seqsOf(steps: readonly WindowStep[], maxBytes: number): Promise<number[]> {
  const seqs: number[] = []
  const source = (async function* () {
    yield* steps
  })()
  for await (const { chunk } of afterDamage(source, maxBytes))
    for (const n of chunk.lines.keys()) seqs.push(chunk.from + n)
  return seqs
}

test("a small window has the lines after the last damage, which is thrown if there are none", async () => {
  expect(await seqsOf([step(0, ["a"]), step(1, ["b"])], MAX_CHUNK_BYTES)).toEqual([0, 1])
  expect(await seqsOf([step(0, ["a"]), step(2, ["c"], damage), step(3, ["d"])], MAX_CHUNK_BYTES)).toEqual([2, 3])
  expect(await seqsOf([step(0, ["a"]), step(2, [], damage), step(2, ["c"])], MAX_CHUNK_BYTES)).toEqual([2])
  await expect(seqsOf([step(0, ["a"]), step(2, [], damage)], MAX_CHUNK_BYTES)).rejects.toBe(damage)
})

test("a large window is yielded as it is read, and ends with the damage that follows its first lines", async () => {
  const large = MAX_CHUNK_BYTES + 1
  expect(await seqsOf([step(1, [], damage), step(1, ["b"]), step(2, ["c"])], large)).toEqual([1, 2])
  await expect(seqsOf([step(0, ["a"]), step(2, ["c"], damage)], large)).rejects.toBe(damage)
  await expect(seqsOf([step(1, [], damage)], large)).rejects.toBe(damage)
})
