import { expect, test } from "vitest"
import type { Row } from "../src/model/types.ts"
import { compare, countKinds, usageOf } from "../view/compare.ts"

/** 1 ← 2 ← 3 ← 4 and 2 ← 5 ← 6; 4 edits 1, 6 labels 2, and 7 is a root of its own. */
const ROWS = new Map(
  (
    [
      { seq: 1, parent: -1 },
      { seq: 2, parent: 1 },
      { seq: 3, parent: 2, call: true, usage: { input: 3 } },
      { seq: 4, parent: 3, type: "context_edit", target: 1 },
      { seq: 5, parent: 2, call: true },
      { seq: 6, parent: 5, type: "label", target: 2 },
      { seq: 7, parent: -1 },
    ] satisfies Partial<Row>[]
  ).map((row): [number, Row] => [row.seq, { id: `id${row.seq}`, type: "message", timestamp: "", text: "", ...row }]),
)

test("two branches have in common what comes before they part, and each has the rest alone", () => {
  const { common, left, right } = compare(ROWS, 4, 6)
  expect([common, left, right]).toEqual([
    [1, 2],
    [3, 4],
    [5, 6],
  ])
  const { changed } = compare(ROWS, 4, 6)
  expect(
    changed.map(({ row, left, right }) => [row.seq, left.map(({ seq }) => seq), right.map(({ seq }) => seq)]),
  ).toEqual([
    [1, [4], []],
    [2, [], [6]],
  ])
})

test("an entry and one before it part at the earlier one; two roots have nothing in common", () => {
  expect(compare(ROWS, 2, 4)).toMatchObject({ common: [1, 2], left: [], right: [3, 4] })
  expect(compare(ROWS, 7, 4)).toMatchObject({ common: [], left: [7], right: [1, 2, 3, 4], changed: [] })
})

test("kinds are counted, and the usage of a side whose calls do not report it is unknown, not 0", () => {
  expect(countKinds(ROWS, [3, 4, 5], ({ type }) => type)).toEqual([
    ["message", 2],
    ["context_edit", 1],
  ])
  expect(usageOf(ROWS, [3, 5])).toMatchObject({ calls: 2, numbers: { input: 3 }, unknown: { input: 1, output: 2 } })
  expect(usageOf(ROWS, [1, 2])).toBeUndefined()
})
