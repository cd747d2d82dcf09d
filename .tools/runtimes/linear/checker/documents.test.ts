import { expect, test } from "vitest"
import { checkDocuments } from "./documents.ts"
import type { DocumentOperation, Get, Put } from "./history.ts"

const FIRST = put("a", [0, 10], null)
const SECOND = put("b", [20, 30], "a")

test("puts that replace each other are accepted, with gets of the value at the time", () => {
  expect(
    judge([FIRST, SECOND, get([11, 12], "a"), get([31, 32], "b"), get([25, 26], "a"), get([-2, -1], null)]),
  ).toEqual([])
})

test("a get that shows an older value than the put before it, or one that is yet to come, is found", () => {
  expect(judge([FIRST, SECOND, get([31, 32], "a")])).toHaveLength(1)
  expect(judge([FIRST, SECOND, get([11, 12], "b")])).toHaveLength(1)
  expect(judge([FIRST, SECOND, get([31, 32], "x")])).toEqual([expect.stringMatching(/shows x, which is not among/)])
})

test("of two acknowledged puts that replace one value, one is lost", () => {
  expect(judge([FIRST, put("c", [21, 29], "a"), SECOND])).toEqual([
    expect.stringMatching(/put|append of c .* acknowledged/),
  ])
})

test("a put of an unknown outcome may be there or not, a refused one is not", () => {
  const unanswered = { ...SECOND, end: Number.POSITIVE_INFINITY, answer: undefined as never }
  for (const call of [unanswered, put("b", [20, 30], "a", { code: "indeterminate" })]) {
    expect(judge([FIRST, call], "a")).toEqual([])
    expect(judge([FIRST, call], "b")).toEqual([])
  }
  expect(judge([FIRST, put("b", [20, 30], "a", { code: "unavailable" })])).toHaveLength(1)
})

test("a conflict with the value that was there throughout is found", () => {
  expect(judge([FIRST, SECOND, put("c", [11, 19], "a", { code: "conflict" })])).toHaveLength(1)
  expect(judge([FIRST, SECOND, put("c", [11, 21], "a", { code: "conflict" })])).toEqual([])
})

test("a put behind a value that was lost is found", () => {
  expect(judge([FIRST, put("c", [11, 12], "x"), SECOND])).toEqual([
    expect.stringMatching(/replaced a value that is lost/),
  ])
})

type Time = readonly [start: number, end: number]

function put(
  value: string,
  [start, end]: Time,
  expect: string | null,
  answer: Put["answer"] & object = { put: true },
): Put {
  return { kind: "put", key: "k", by: value, start, end, expect, value, answer }
}

function get([start, end]: Time, value: string | null): Get {
  return { kind: "get", key: "k", by: "reader", start, end, answer: { value } }
}

function judge(operations: readonly DocumentOperation[], last = "b"): readonly string[] {
  return checkDocuments(operations, { k: last })
}
