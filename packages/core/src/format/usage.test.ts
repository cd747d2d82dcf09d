import { expect, test } from "vitest"
import { usageCounts } from "./usage.ts"

test("all tokens of a call are the larger of its total and the sum of its counts, in either spelling", () => {
  const all = (usage: object): number => usageCounts({ ...usage })[4]
  expect(all({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 })).toBe(10)
  expect(all({ inputTokens: 1, outputTokens: 2, cacheRead: 3 })).toBe(6)
  expect(all({ inputTokens: 1, totalTokens: 5 })).toBe(5)
  expect(all({ input: 5, output: 300, cacheRead: 185_000, totalTokens: 305 })).toBe(185_305)
  expect(all({ inputTokens: "1" })).toBe(0)
})
