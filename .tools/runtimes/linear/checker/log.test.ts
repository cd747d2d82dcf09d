import { describe, expect, test } from "vitest"
import type { Append, LogOperation, Look, Read } from "./history.ts"
import { checkLog } from "./log.ts"

/** Two acknowledged appends, one after the other: a0 and a1 in [0, 10], b0 and b1 in [20, 30]. */
const FIRST = append("a", [0, 10], 0, { next: 2, log: "log" })
const SECOND = append("b", [20, 30], 2, { next: 4, log: "log" })

test("two appends in their order are accepted", () => {
  expect(judge([FIRST, SECOND])).toEqual([])
})

describe("a line", () => {
  test("that was acknowledged is in the log, at the place of the answer", () => {
    expect(judge([FIRST, SECOND], ["a0", "a1"])).toEqual([
      expect.stringMatching(/b0, b1 .* no place, no place, was acknowledged/),
    ])
    expect(judge([FIRST, { ...SECOND, expect: 3 }])).toEqual([
      expect.stringMatching(/acknowledged/),
      expect.stringMatching(/with the head 4/),
    ])
  })

  test("is in the log once", () => {
    expect(judge([FIRST, SECOND], ["a0", "a1", "b0", "b1", "b0", "b1"])).toEqual([
      expect.stringMatching(/b0 .* twice/),
      expect.stringMatching(/b1 .* twice/),
    ])
  })

  test("that was refused is not in the log", () => {
    for (const code of ["conflict", "unavailable", "quota", "aborted"]) {
      expect(judge([FIRST, append("b", [20, 30], 2, { code })])).toEqual([
        expect.stringContaining(`refused with ${code}`),
      ])
    }
  })

  test("that no client appended is not in the log", () => {
    expect(judge([FIRST], ["a0", "a1", "x"])).toEqual([expect.stringMatching(/line x at 2/)])
  })
})

describe("an append with an unknown outcome", () => {
  const answers: readonly Append["answer"][] = [undefined, { code: "indeterminate" }, { code: "aborted", sent: true }]

  test("is in the log or not", () => {
    for (const answer of answers) {
      const unknown = append("b", [20, 30], 2, answer)
      expect(judge([FIRST, unknown])).toEqual([])
      expect(judge([FIRST, unknown], ["a0", "a1"])).toEqual([])
    }
  })

  test("is there directly behind the head that it expected", () => {
    for (const answer of answers) {
      expect(judge([FIRST, append("b", [20, 30], 1, answer)])).toEqual([
        expect.stringMatching(/neither whole nor absent/),
      ])
    }
  })

  test("leaves its first lines only with `prefix`, and of a creation none or all", () => {
    for (const answer of answers) {
      const unknown = append("b", [20, 30], 2, answer)
      expect(judge([FIRST, unknown], ["a0", "a1", "b0"], "prefix")).toEqual([])
      expect(judge([FIRST, unknown], ["a0", "a1", "b1"], "prefix")).toEqual([
        expect.stringMatching(/neither whole nor absent/),
      ])
      expect(judge([FIRST, unknown], ["a0", "a1", "b0"])).toEqual([expect.stringMatching(/neither whole nor absent/)])
      expect(judge([append("a", [0, 10], 0, answer)], ["a0"], "prefix")).toEqual([
        expect.stringMatching(/neither whole nor absent/),
      ])
    }
  })

  test("may take effect after its call has ended", () => {
    const late = append("b", [11, 12], 2, { code: "indeterminate" })
    expect(judge([FIRST, late, look([13, 14], 2), look([15, 16], 4)])).toEqual([])
    expect(judge([FIRST, late, look([13, 14], 4), look([15, 16], 2)])).toEqual([
      expect.stringMatching(/of 2 lines comes before head .* of 4 lines/),
    ])
  })
})

describe("a `head` or read", () => {
  test("shows what had been appended before it began", () => {
    expect(judge([FIRST, SECOND, look([31, 32], 2)])).toEqual([
      expect.stringMatching(/of 2 lines comes before append of b0, b1/),
    ])
    expect(judge([FIRST, SECOND, read([31, 32], ["a0", "a1"])])).toEqual([
      expect.stringMatching(/of 2 lines comes before append of b0, b1/),
    ])
    expect(judge([FIRST, SECOND, read([31, 32], [], 3)])).toEqual([expect.stringMatching(/an empty read/)])
    expect(judge([FIRST, SECOND, look([31, 32], 0)])).toHaveLength(2)
  })

  test("shows nothing that was appended after it ended", () => {
    expect(judge([FIRST, SECOND, look([11, 12], 4)])).toEqual([
      expect.stringMatching(/append of b0, b1 .* comes before head/),
    ])
    expect(judge([FIRST, SECOND, read([11, 12], ["b0", "b1"], 2)])).toEqual([
      expect.stringMatching(/append of b0, b1 .* comes before read/),
    ])
  })

  test("may show an append that runs at the same time, or not", () => {
    for (const state of [2, 4]) expect(judge([FIRST, SECOND, look([25, 26], state)])).toEqual([])
    // Once one has shown it, a later one does not miss it.
    expect(judge([FIRST, SECOND, look([22, 23], 4), look([25, 26], 2)])).toEqual([
      expect.stringMatching(/of 2 lines comes before head/),
    ])
  })

  test("shows the lines, the bytes and the identity of the log", () => {
    expect(judge([FIRST, SECOND, read([31, 32], ["a0", "a1", "b1", "b0"])])).toEqual([
      expect.stringMatching(/shows b1 at 2, where the log has b0/),
    ])
    expect(judge([FIRST, SECOND, look([31, 32], 4, { bytes: 39 })])).toEqual([
      expect.stringMatching(/shows 39 bytes for 4 lines, which have 40/),
    ])
    expect(judge([FIRST, SECOND, look([31, 32], 4, { log: "other" })])).toEqual([
      expect.stringMatching(/shows another log/),
    ])
    expect(judge([FIRST, SECOND, look([31, 32], 5)])).toEqual([
      expect.stringMatching(/shows 5 lines, and the log has 4/),
    ])
  })

  test("shows an append whole; with `prefix` its first lines while it is written, and of a creation none or all", () => {
    expect(judge([FIRST, SECOND, look([25, 26], 3)])).toEqual([
      expect.stringMatching(/in the middle of the append of b0, b1/),
    ])
    expect(judge([FIRST, SECOND, look([25, 26], 3)], undefined, "prefix")).toEqual([])
    expect(judge([FIRST, SECOND, look([31, 32], 3)], undefined, "prefix")).toEqual([
      expect.stringMatching(/of 3 lines comes before append of b0, b1/),
    ])
    expect(judge([FIRST, SECOND, look([5, 6], 1)], undefined, "prefix")).toEqual([
      expect.stringMatching(/in the middle of the append of a0, a1/),
    ])
  })

  test("with `prefix`, may show an append that fails, while it runs", () => {
    const failed = append("c", [11, 19], 2, { code: "quota" })
    const during = [read([14, 15], ["a0", "a1", "c0"]), look([14, 15], 3, { bytes: 30 })]
    expect(judge([FIRST, failed, SECOND, ...during], undefined, "prefix")).toEqual([])
    expect(judge([FIRST, failed, SECOND, ...during])).not.toEqual([])
    expect(judge([FIRST, failed, SECOND, read([21, 22], ["a0", "a1", "c0"])], undefined, "prefix")).not.toEqual([])
  })
})

describe("a conflict", () => {
  const conflict = (time: Time, expect: number): Append => append("c", time, expect, { code: "conflict" })

  test("means that the expected head was not the head at some instant of the call", () => {
    expect(judge([FIRST, SECOND, conflict([11, 19], 2)])).toEqual([
      expect.stringMatching(/conflict.*had ended when it began/),
    ])
    expect(judge([FIRST, SECOND, conflict([31, 32], 4)])).toEqual([expect.stringMatching(/conflict/)])
    expect(judge([FIRST, SECOND, conflict([-2, -1], 0)])).toEqual([
      expect.stringMatching(/although nothing had happened yet/),
    ])
    expect(judge([FIRST, SECOND, conflict([11, 21], 2)])).toEqual([])
    expect(judge([FIRST, SECOND, conflict([9, 19], 2)])).toEqual([])
    expect(judge([FIRST, SECOND, conflict([11, 19], 0), conflict([31, 32], 2)])).toEqual([])
  })

  test("is right for a head that never was", () => {
    expect(judge([FIRST, SECOND, conflict([25, 26], 3), conflict([31, 32], 9)])).toEqual([])
  })
})

test("an error that no correct storage has in a history is reported", () => {
  const corrupt = { code: "corrupt" }
  const calls = [append("c", [31, 32], 4, corrupt), { ...look([31, 32], 4), answer: corrupt }]
  expect(judge([FIRST, SECOND, ...calls])).toEqual([
    expect.stringMatching(/append .* rejected with corrupt/),
    expect.stringMatching(/head .* rejected with corrupt/),
  ])
})

type Time = readonly [start: number, end: number]

function append(name: string, [start, end]: Time, expect: number, answer: Append["answer"]): Append {
  const call = { kind: "append", by: name, start, end, expect, lines: [`${name}0`, `${name}1`] } as const
  return answer === undefined ? { ...call, end: Number.POSITIVE_INFINITY } : { ...call, answer }
}

function look([start, end]: Time, next: number, more: { bytes?: number; log?: string } = {}): Look {
  return { kind: "head", by: "reader", start, end, answer: { next, ...more } }
}

function read([start, end]: Time, lines: readonly string[], from = 0): Read {
  return { kind: "read", by: "reader", start, end, answer: { from, lines } }
}

function judge(
  operations: readonly LogOperation[],
  ids: readonly string[] = ["a0", "a1", "b0", "b1"],
  atomicBatch: "all" | "prefix" = "all",
): readonly string[] {
  return checkLog({ atomicBatch, log: { identity: "log", lines: ids.map((id) => ({ id, bytes: 10 })) }, operations })
}
