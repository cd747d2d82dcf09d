import { expect, test } from "vitest"
import type { HeadInfo } from "./contract.ts"
import { headAfter, rangeIn } from "./head.ts"

const STORED: HeadInfo = { next: 2, log: "l", bytes: 10, updatedAt: 100, info: { text: "old", next: 1 } }

test("the head after an append counts lines and bytes, keeps the log and the info, and is not older than the one before", () => {
  expect(headAfter(STORED, ["é"], { expect: { next: 2, log: "l" } }, 50)).toEqual({
    next: 3,
    log: "l",
    bytes: 13,
    updatedAt: 100,
    info: { text: "old", next: 1 },
  })
  const { info, updatedAt } = headAfter(STORED, ["x", "y"], { expect: STORED, info: "" }, 200)
  expect({ info, updatedAt }).toEqual({ info: { text: "", next: 4 }, updatedAt: 200 })
})

test("a log that begins has an identity of its own, and no info unless it is given", () => {
  const [one, two] = [headAfter(undefined, ["x"], { expect: 0 }), headAfter(undefined, ["x"], { expect: 0 })]
  expect(one).toEqual({ next: 1, log: one.log, bytes: 2, updatedAt: one.updatedAt })
  expect(one.log).toMatch(/^[0-9a-f]{24}$/)
  expect(one.log).not.toBe(two.log)
})

test("another head than the stored one is a conflict that says what is there", () => {
  const message = (stored: HeadInfo | undefined, expected: 0 | { next: number; log: string }): string => {
    try {
      headAfter(stored, ["x"], { expect: expected })
      return "written"
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(message(undefined, STORED)).toMatch(/no such session/)
  expect(message(STORED, 0)).toMatch(/exists already/)
  expect(message(STORED, { next: 2, log: "m" })).toMatch(/deleted and made again/)
  expect(message(STORED, { next: 1, log: "l" })).toMatch(/has 2 lines, not 1/)
  expect(message(STORED, { next: 3, log: "l" })).toMatch(/has 2 lines, not 3/)
})

test("a range is cut to the log", () => {
  const all = Number.MAX_SAFE_INTEGER
  expect(rangeIn({ from: 0, to: all }, 5)).toEqual({ from: 0, to: 5 })
  expect(rangeIn({ from: 7, to: all }, 5)).toEqual({ from: 7, to: 5 })
  expect(rangeIn({ last: 2, before: all }, 5)).toEqual({ from: 3, to: 5 })
  expect(rangeIn({ last: 9, before: 4 }, 5)).toEqual({ from: 0, to: 4 })
})
