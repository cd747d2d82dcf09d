import { expect, test } from "vitest"
import { MAX_DEPTH } from "../storage/depth.ts"
import { flatten, isTooDeep } from "./deep-text.ts"

const nested = (levels: number, open: string, close: string, inner = ""): string =>
  open.repeat(levels) + inner + close.repeat(levels)

test.each([
  ["[", "]", "", 1],
  ['{"a":', "}", "1", 1],
  ['[{"a":', "}]", "1", 2],
])("levels of %s%s are counted to the limit", (open, close, inner, levels) => {
  const most = MAX_DEPTH / levels
  const beyond = nested(most + 1, open, close, inner)
  expect(isTooDeep(nested(most, open, close, inner))).toBe(false)
  expect(isTooDeep(beyond)).toBe(true)
  expect(isTooDeep(flatten(beyond))).toBe(false)
})

test("brackets in texts, and beside each other, are no levels", () => {
  const many = 3 * MAX_DEPTH
  expect(isTooDeep(JSON.stringify({ text: "[{".repeat(many), more: '\\"['.repeat(many) }))).toBe(false)
  expect(isTooDeep(`[${"[],".repeat(many)}{}]`)).toBe(false)
  expect(isTooDeep(`["${"[".repeat(many)}",${nested(MAX_DEPTH, "[", "]")}]`)).toBe(true)
})
