import { expect, test } from "vitest"
import type { Tips } from "../log/projected-tips.ts"
import { startProjection } from "./projection.ts"
import { encodeProjection, parseProjection } from "./projection-text.ts"

test("a projection is read back as it was written, and one of another version is ignored", () => {
  for (const stale of [{}, { stale: true }] as const) {
    const projection = { ...startProjection({}, "l"), ...stale }
    const text = encodeProjection(projection)
    expect(parseProjection(text)).toEqual(projection)
    expect(parseProjection(text.replace('"v":6', '"v":5'))).toBeUndefined()
  }
})

const TIPS: Tips = {
  tips: [{ seq: 1, id: "a", near: ["a", "n"] }],
  current: 1,
  more: 2,
  doubt: 3,
}

test("tips are read back as they were written", () => {
  const projection = { ...startProjection({}, "l"), to: { seq: 4, id: "e4" }, tips: TIPS, settled: 9 } as const
  expect(parseProjection(encodeProjection(projection))).toEqual(projection)
})

test("a projection with tips of an invalid shape is ignored", () => {
  const start = { ...startProjection({}, "l"), to: { seq: 4, id: "e4" } }
  expect(parseProjection(encodeProjection({ ...start, tips: TIPS }))).toBeDefined()
  const [tip] = TIPS.tips
  const invalid = [
    { tips: null },
    { tips: [] },
    { tips: { ...TIPS, tips: [{ ...tip, near: "n" }] } },
    { tips: { ...TIPS, tips: [{ ...tip, seq: 5 }], current: null } },
    { tips: { ...TIPS, current: 2 } },
    { tips: { ...TIPS, more: -1 } },
    { tips: { ...TIPS, doubt: "3" } },
    { tips: TIPS, settled: "9" },
  ]
  for (const fields of invalid) {
    expect(parseProjection(encodeProjection({ ...start, ...(fields as object) }))).toBeUndefined()
  }
})
