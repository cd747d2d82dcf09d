import { expect, test } from "vitest"
import { shouldCompact } from "./trigger.ts"

test("the reserve: a compaction is due strictly above the window minus the reserve", () => {
  expect(shouldCompact(200_000 - 16_384, 200_000)).toBe(false)
  expect(shouldCompact(200_000 - 16_384 + 1, 200_000)).toBe(true)
  expect(shouldCompact(91, 100, { reserveTokens: 10 })).toBe(true)
  expect(shouldCompact(90, 100, { reserveTokens: 10 })).toBe(false)
})

test("a number of tokens or a share of the window: a compaction is due as soon as it is reached", () => {
  expect(shouldCompact(99_999, 10, { thresholdTokens: 100_000 })).toBe(false)
  expect(shouldCompact(100_000, 1_000_000, { thresholdTokens: 100_000 })).toBe(true)
  expect(shouldCompact(159_999, 200_000, { thresholdShare: 0.8 })).toBe(false)
  expect(shouldCompact(160_000, 200_000, { thresholdShare: 0.8 })).toBe(true)
})

test("if it is disabled a compaction is never due", () => {
  expect(shouldCompact(1e9, 10, { enabled: false })).toBe(false)
})
