import { expect, test } from "vitest"
import { isShown } from "../lib/shown.mjs"

test("a page shows every line, in order, and nothing else", () => {
  expect(isShown([], [])).toBe(true)
  expect(isShown(["a", "b (c)"], ["a", "b (c)"])).toBe(true)
  for (const printed of [["a"], ["b (c)", "a"], ["a", "b c"], ["a", "b (c)", "d"], ["a", "", "b (c)"]])
    expect(isShown(printed, ["a", "b (c)"]), printed.join()).toBe(false)
})

test("an ellipsis stands for any text of a line, and alone for any lines", () => {
  expect(isShown(["id 01X of b"], ["id … of b"])).toBe(true)
  expect(isShown(["id 01X", " of b"], ["id … of b"])).toBe(false)
  for (const some of [[], ["x"], ["x", "", "y"]]) {
    expect(isShown(["a", ...some, "b"], ["a", "…", "b"])).toBe(true)
    expect(isShown(["a", ...some, "c"], ["a", "…", "b"])).toBe(false)
  }
})
