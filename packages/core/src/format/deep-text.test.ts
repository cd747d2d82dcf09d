import { expect, test } from "vitest"
import { MAX_DEPTH } from "../storage/depth.ts"
import { flatten, isTooDeep } from "./deep-text.ts"

const nested = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels)

test.each([
  ["[", "]"],
  ['{"a":', "}"],
  ['[{"a":', "}]"],
])("levels of %s%s are counted to the limit", (open, close) => {
  const most = open.startsWith("[{") ? MAX_DEPTH / 2 : MAX_DEPTH
  const inner = open.endsWith(":") ? "1" : ""
  const text = (levels: number): string => nested(levels, open, `${close}`).replace(open + close, open + inner + close)
  expect(isTooDeep(text(most))).toBe(false)
  expect(isTooDeep(text(most + 1))).toBe(true)
  expect(isTooDeep(flatten(text(most + 1)))).toBe(false)
})

test("brackets in texts, and beside each other, are no levels", () => {
  const many = 3 * MAX_DEPTH
  expect(isTooDeep(JSON.stringify({ text: "[{".repeat(many), more: '\\"['.repeat(many) }))).toBe(false)
  expect(isTooDeep(`[${"[],".repeat(many)}{}]`)).toBe(false)
  expect(isTooDeep(`["${"[".repeat(many)}",${nested(MAX_DEPTH, "[", "]")}]`)).toBe(true)
})
