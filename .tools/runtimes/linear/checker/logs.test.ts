import { expect, test } from "vitest"
import { check } from "./check.ts"
import type { Append, Delete, Look, Operation, Read, Replace } from "./history.ts"

/** Log A: created, two lines; deleted; log B: created, one line, then two more. */
const CREATE_A = append("A", [0, 10], 0, ["a0", "a1"])
const DELETE_A = remove([20, 30])
const CREATE_B = append("B", [40, 50], 0, ["b0"])
const GROW_B = append("B", [60, 70], 1, ["b1", "b2"])
const ALL = [CREATE_A, DELETE_A, CREATE_B, GROW_B]

test("logs that follow each other are accepted, with what overlaps a delete in either order", () => {
  const calls = [look([12, 14], 2, "A"), look([32, 34], 0), look([25, 45], 0), read([72, 74], ["b0", "b1", "b2"])]
  expect(judge([...ALL, ...calls])).toEqual([])
  expect(judge([...ALL, look([25, 26], 2, "A"), append("A", [21, 29], 2, ["a2"])])).toEqual([])
  expect(judge([...ALL, { ...append("A", [21, 29], 2, ["a2"]), answer: { code: "conflict" } }])).toEqual([])
})

test("an append that was applied may be a conflict if its log has ended by then, and only then", () => {
  const shown = read([17, 18], ["a0", "a1", "a2"], "A")
  const refused = (end: number): Append => ({ ...append("A", [12, end], 2, ["a2"]), answer: { code: "conflict" } })
  expect(judge([...ALL, shown, refused(25)])).toEqual([])
  expect(judge([...ALL, shown, refused(19)])).toContainEqual(expect.stringMatching(/was refused with conflict/))
})

test("a read shows lines of one log only, and of the log that it asked for", () => {
  expect(judge([...ALL, read([72, 74], ["a0", "b1", "b2"])])).toEqual([
    expect.stringMatching(/shows lines of two logs/),
  ])
  expect(judge([...ALL, read([22, 24], ["a0", "a1"], "B")])).toEqual([expect.stringMatching(/shows lines of two logs/)])
})

test("no acknowledged append is missing in its log, the last one or one before it", () => {
  const lost = append("B", [72, 74], 3, ["b3"])
  expect(judge([...ALL, lost])).toEqual([expect.stringMatching(/log B: append of b3 .* was acknowledged/)])
  const later = read([18, 19], ["a0", "a1"], "A")
  expect(judge([...ALL, append("A", [12, 14], 2, ["a2"]), later])).toEqual([
    expect.stringMatching(/log A: .* comes before append of a2/),
  ])
})

test("a log comes after another one or before it", () => {
  expect(judge([...ALL, look([52, 54], 2, "A")])).toEqual([
    expect.stringMatching(/log A was there before and after log B/),
    expect.stringMatching(/log A was there after the delete/),
    expect.stringMatching(/log A is gone, and no delete or replace ended it/),
  ])
})

test("after an acknowledged delete the log is gone, and before it no call finds nothing", () => {
  expect(judge([...ALL, look([32, 34], 2, "A")])).toContainEqual(
    expect.stringMatching(/log A was there after the delete/),
  )
  expect(judge([...ALL, look([62, 64], 0)])).toEqual([expect.stringMatching(/does not show log B/)])
  expect(judge([CREATE_A, CREATE_B, GROW_B])).not.toEqual([])
  expect(judge([CREATE_A, remove([80, 81]), CREATE_B, GROW_B])).toEqual([
    expect.stringMatching(/log A is gone, and no delete or replace ended it/),
    expect.stringMatching(/log B was there after the delete/),
  ])
})

test("a replace has the log that it expected behind it, without further lines", () => {
  const replace: Replace = {
    kind: "replace",
    by: "c",
    start: 20,
    end: 30,
    expect: 2,
    log: "A",
    lines: ["b0"],
    answer: { next: 1, log: "B" },
  }
  expect(judge([CREATE_A, replace, GROW_B])).toEqual([])
  expect(judge([CREATE_A, append("A", [21, 29], 2, ["a2"]), replace, GROW_B])).toEqual([
    expect.stringMatching(/replace of b0 .* was acknowledged, and its log has 3 lines/),
  ])
  expect(
    judge([CREATE_A, replace, GROW_B, { ...append("A", [15, 16], 2, ["a2"]), answer: { code: "conflict" } }]),
  ).toEqual([expect.stringMatching(/log A: .*conflict/)])
  const lost = { ...replace, answer: { code: "conflict" } } as const
  expect(judge([CREATE_A, lost, GROW_B])).toContainEqual(expect.stringMatching(/was refused with conflict|refused/))
})

test("a log can end, and the next one begin, before the call that made it is answered", () => {
  const replace: Replace = {
    kind: "replace",
    by: "c",
    start: 20,
    end: 55,
    expect: 2,
    log: "A",
    lines: ["m0"],
    answer: { next: 1, log: "M" },
  }
  const late: Append = { ...append("M", [56, 57], 1, ["m1"]), answer: { code: "conflict" } }
  expect(judge([CREATE_A, replace, remove([25, 30]), CREATE_B, GROW_B, late])).toEqual([])
  expect(judge([CREATE_A, replace, remove([12, 18]), CREATE_B, GROW_B])).toContainEqual(
    expect.stringMatching(/log M is gone, and no delete or replace ended it/),
  )
})

test("a log between two others ends by a call that is not over before it began", () => {
  const c = [append("C", [32, 34], 0, ["c0"]), append("C", [36, 37], 1, ["c1"])]
  expect(judge([CREATE_A, remove([20, 30]), ...c, remove([38, 39]), CREATE_B, GROW_B])).toEqual([])
  expect(judge([CREATE_A, remove([20, 30]), ...c, CREATE_B, GROW_B])).toEqual([
    "log C is gone, and no delete or replace ended it",
  ])
})

test("a creation without an answer belongs to the log that shows its lines", () => {
  const unknown: Append = {
    kind: "append",
    by: "c",
    start: 0,
    end: Number.POSITIVE_INFINITY,
    expect: 0,
    lines: ["a0", "a1"],
  }
  const calls = [unknown, look([12, 14], 2, "A"), read([12, 14], ["a0", "a1"], "A"), DELETE_A, CREATE_B, GROW_B]
  expect(judge(calls)).toEqual([])
  expect(judge([...calls, read([52, 54], ["a0", "a1"])])).not.toEqual([])
})

test("lines that only heads have counted are nobody's if several appends without an answer may have written them", () => {
  // The first one wrote a2 to a4: behind 4 there never was a head, and the second one was too late.
  const calls = [unanswered("A", 12, 2, ["a2", "a3", "a4"]), unanswered("A", 14, 2, ["x0"])]
  const never = unanswered("A", 13, 4, ["x1", "x2"])
  expect(judge([...ALL, ...calls, never, look([16, 17], 5, "A")])).toEqual([])
})

test("an append without an answer that is the only one behind a head wrote the lines that follow it", () => {
  const grown = unanswered("A", 12, 2, ["a2", "a3"])
  expect(judge([...ALL, grown, look([14, 15], 4, "A")])).toEqual([])
  expect(judge([...ALL, { ...grown, start: 16 }, look([14, 15], 4, "A")])).toEqual([
    expect.stringMatching(/comes before head .* of 4 lines, which had ended when it began/),
  ])
  expect(judge([...ALL, grown, look([14, 15], 3, "A")])).toEqual([expect.stringMatching(/in the middle of the append/)])
})

test("a conflict at the last head that was seen is right if an append without an answer may have come between", () => {
  const refused: Append = { ...append("A", [15, 16], 2, ["a5"]), answer: { code: "conflict" } }
  const unknown = [unanswered("A", 12, 2, ["a2"]), unanswered("A", 13, 2, ["a3", "a4"])]
  expect(judge([...ALL, unknown[0] as Append, refused])).toEqual([])
  expect(judge([...ALL, ...unknown, refused])).toEqual([])
  expect(judge([...ALL, unanswered("A", 17, 2, ["a2"]), refused])).not.toEqual([])
  expect(judge([...ALL, refused])).not.toEqual([])
})

type Time = readonly [start: number, end: number]

function append(log: string, [start, end]: Time, expect: number, lines: readonly string[]): Append {
  const answer = { next: expect + lines.length, log }
  return { kind: "append", by: "c", start, end, expect, ...(expect > 0 && { log }), lines, answer }
}

/** Of a client that was killed. */
function unanswered(log: string, start: number, expect: number, lines: readonly string[]): Append {
  return { kind: "append", by: "killed", start, end: Number.POSITIVE_INFINITY, expect, log, lines }
}

function remove([start, end]: Time): Delete {
  return { kind: "delete", by: "c", start, end, answer: { deleted: true } }
}

function look([start, end]: Time, next: number, log?: string): Look {
  return { kind: "head", by: "reader", start, end, answer: { next, ...(log !== undefined && { log }) } }
}

function read([start, end]: Time, lines: readonly string[], log?: string): Read {
  return { kind: "read", by: "reader", start, end, ...(log !== undefined && { log }), answer: { from: 0, lines } }
}

function judge(operations: readonly Operation[]): readonly string[] {
  const lines = ["b0", "b1", "b2"].map((id) => ({ id, bytes: 10 }))
  return check({ atomicBatch: "all", log: { identity: "B", lines }, documents: {}, operations })
}
