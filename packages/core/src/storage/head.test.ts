import { expect, test } from "vitest"
import { checkRange } from "./checks.ts"
import type { HeadInfo } from "./contract.ts"
import { checkExpect, headAfter, headAt, isSameLine, lineMark, rangeIn } from "./head.ts"

const STORED: HeadInfo = { next: 2, log: "l", bytes: 10, updatedAt: 100, info: { text: "old", next: 1 } }

test("headAfter counts lines and bytes, keeps log and info, and never decreases updatedAt", () => {
  expect(headAfter(STORED, ["é"], { expect: { next: 2, log: "l" } }, 50)).toEqual({
    next: 3,
    log: "l",
    bytes: 13,
    updatedAt: 100,
    mark: lineMark("é"),
    info: { text: "old", next: 1 },
  })
  const { info, updatedAt } = headAfter(STORED, ["x", "y"], { expect: STORED, info: "" }, 200)
  expect({ info, updatedAt }).toEqual({ info: { text: "", next: 4 }, updatedAt: 200 })
})

test("a new log gets its own identity, and info only if it is given", () => {
  const [one, two] = [headAfter(undefined, ["x"], { expect: 0 }), headAfter(undefined, ["x"], { expect: 0 })]
  expect(one).toEqual({ next: 1, log: one.log, bytes: 2, updatedAt: one.updatedAt, mark: lineMark("x") })
  expect(one.log).toMatch(/^[0-9a-f]{24}$/)
  expect(one.log).not.toBe(two.log)
})

test("a head other than the stored one is a conflict whose message describes the stored one", () => {
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
  expect(message(STORED, { next: 2, log: "m" })).toMatch(/deleted and created again/)
  expect(message(STORED, { next: 1, log: "l" })).toMatch(/has 2 lines, not 1/)
  expect(message(STORED, { next: 3, log: "l" })).toMatch(/has 2 lines, not 3/)
})

test("a range is cut to the log", () => {
  const stored = { next: 5, log: "l" }
  expect(rangeIn(checkRange(), stored)).toEqual({ from: 0, to: 5 })
  expect(rangeIn(checkRange({ from: 7 }), stored)).toEqual({ from: 7, to: 5 })
  expect(rangeIn(checkRange({ maxBytes: 2 }), stored)).toEqual({ from: 0, to: 5 })
  expect(rangeIn(checkRange({ maxBytes: 9, before: 4 }), stored)).toEqual({ from: 0, to: 4 })
  expect(rangeIn(checkRange({ from: 2, to: 4, log: "l" }), stored)).toEqual({ from: 2, to: 4 })
  expect(rangeIn(checkRange(), undefined)).toEqual({ from: 0, to: 0 })
})

test("a range with the identity of another log is a conflict", () => {
  const conflict = expect.objectContaining({ code: "conflict" })
  for (const range of [{ log: "m" }, { log: "" }, { from: 9, log: "m" }, { maxBytes: 1, before: 0, log: "m" }])
    expect(() => rangeIn(checkRange(range), { next: 5, log: "l" })).toThrow(conflict)
  expect(() => rangeIn(checkRange({ log: "l" }), undefined)).toThrow(conflict)
})

test("the mark of a line is the same on every runtime, as the contract defines it", () => {
  const ends = `${"a".repeat(128)}${"b".repeat(128)}`
  const marks = ["a", "\u{1F600}é", ends, `${"a".repeat(128)}x${"b".repeat(128)}`].map(lineMark)
  expect(marks).toEqual([740610519, 2593790592, 456527775, 439750156])
})

test("a mark depends on the length, the first and the last 128 units of a line", () => {
  const line = (middle: string, first = "f", last = "l"): string =>
    `${first}${"-".repeat(127)}${middle}${"-".repeat(127)}${last}`
  expect(lineMark(line("abc"))).toBe(lineMark(line("xyz")))
  const others = [line("abcd"), line("abc", "g"), line("abc", "f", "m"), line("").slice(0, 200)]
  expect(new Set([line("abc"), ...others].map(lineMark)).size).toBe(5)
})

test("a head with another mark than the stored one is a conflict; without one of the two marks it is not", () => {
  const [stored, copy] = [headAt(2, "l", "a line"), headAt(2, "l", ["a", "line"].join(" "))]
  const conflict = expect.objectContaining({ code: "conflict" })
  for (const given of [stored, copy, { next: 2, log: "l" }, { next: 2, log: "l", mark: lineMark("a line") }])
    expect(() => checkExpect(stored, given)).not.toThrow()
  for (const given of [headAt(2, "l", "a lime"), { next: 2, log: "l", mark: 7 }])
    expect(() => checkExpect(stored, given)).toThrow(conflict)
  expect(isSameLine({ next: 2, log: "l" }, stored)).toBe(true)
  expect({ ...stored }).toEqual({ next: 2, log: "l" })
})
