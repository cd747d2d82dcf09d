import { expect, test } from "vitest"
import { MAX_CHUNK_BYTES, type ReadRange } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { type BackwardReading, type Hint, readBackwards, startBackwards } from "./read-backwards.ts"

/** Lines of 100 bytes on average. */
const HEAD = { next: 10_000, log: "l", bytes: 1_000_000, updatedAt: 0 }
const NO_HINT: Hint = { seq: undefined, exactly: false }

const rangeOf = (reading: BackwardReading, before: number, hint: Partial<Hint> = {}): Promise<ReadRange> =>
  readBackwards(reading, before, { ...NO_HINT, ...hint }, async (range) => range)

test("windows double from the first to the largest, and name the log", async () => {
  const reading = startBackwards(HEAD, { first: 1_000, largest: 3_000 })
  const sizes = [1_000, 2_000, 3_000, 3_000]
  for (const maxBytes of sizes) expect(await rangeOf(reading, 50)).toEqual({ before: 50, maxBytes, log: "l" })
  const small = startBackwards(HEAD, { first: 1_000, largest: 10 })
  expect(await rangeOf(small, 50)).toMatchObject({ maxBytes: 10 })
})

test("a hint extends the window if it is further back, or if nothing more is needed; an invalid hint is ignored", async () => {
  const reading = (): BackwardReading => startBackwards(HEAD, { first: 1_000, largest: 1_000 })
  expect(await rangeOf(reading(), 500, { seq: 100 })).toEqual({ from: 100, to: 500, log: "l" })
  expect(await rangeOf(reading(), 500, { seq: 495 })).toEqual({ before: 500, maxBytes: 1_000, log: "l" })
  expect(await rangeOf(reading(), 500, { seq: 495, exactly: true })).toEqual({ from: 495, to: 500, log: "l" })
  expect(await rangeOf(reading(), 500, { seq: -7 })).toEqual({ from: 0, to: 500, log: "l" })
  for (const seq of [500, 501, 1.5, Number.NaN, 1e300, "7" as never]) {
    for (const exactly of [true, false]) {
      expect(await rangeOf(reading(), 500, { seq, exactly })).toEqual({ before: 500, maxBytes: 1_000, log: "l" })
    }
  }
})

test("the context is read at the opening if it fits two windows, and later if it fits the largest", async () => {
  const reading = (start: number): BackwardReading => startBackwards(HEAD, { first: 1_000, largest: 50_000 }, start)
  expect(await rangeOf(reading(9_980), 10_000)).toEqual({ from: 9_980, to: 10_000, log: "l" })
  expect(await rangeOf(reading(9_979), 10_000)).toEqual({ before: 10_000, maxBytes: 1_000, log: "l" })
  expect(await rangeOf(reading(9_400), 9_900)).toEqual({ from: 9_400, to: 9_900, log: "l" })
  expect(await rangeOf(reading(9_399), 9_900)).toEqual({ before: 9_900, maxBytes: 1_000, log: "l" })
  expect(await rangeOf(reading(9_400), 9_400)).toEqual({ before: 9_400, maxBytes: 1_000, log: "l" })
})

test("a large window that is `corrupt` is read again as a small one, and so are those before it; other errors are rejected", async () => {
  const reading = startBackwards(HEAD, { first: 1_000_000, largest: 4_000_000 })
  const asked: unknown[] = []
  const read = async (range: ReadRange): Promise<string> => {
    asked.push("maxBytes" in range ? range.maxBytes : range)
    if (!("maxBytes" in range) || range.maxBytes > MAX_CHUNK_BYTES) throw new StorageError("corrupt", "A bad line.")
    return "lines"
  }
  expect(await readBackwards(reading, 50, NO_HINT, read)).toBe("lines")
  expect(await readBackwards(reading, 40, NO_HINT, read)).toBe("lines")
  expect(asked).toEqual([1_000_000, MAX_CHUNK_BYTES, MAX_CHUNK_BYTES])
  const corrupt = expect.objectContaining({ code: "corrupt" })
  await expect(readBackwards(reading, 40, { seq: 1, exactly: true }, read)).rejects.toEqual(corrupt)
  const always = () => Promise.reject(new StorageError("corrupt", "A bad line."))
  await expect(readBackwards(reading, 40, NO_HINT, always)).rejects.toEqual(corrupt)
})
