import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../../test/property.ts"
import { inWindow, resolveSettings } from "./settings.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"

const within = (window: number, ...layers: readonly CompactionSettings[]) =>
  inWindow(resolveSettings(...layers), window)

test("a window that is large enough has the defaults", () => {
  for (const window of [80_000, 128_000, 200_000, 1_000_000]) {
    expect(within(window)).toMatchObject({
      trigger: { kind: "reserve", tokens: 16_384 },
      keep: { kind: "tokens", count: 20_000 },
      maxSummaryTokens: 13_107,
      maxTurnContextTokens: 8_192,
    })
  }
})

test("in a small window the reserve is a quarter of it, and the kept part a third of the context when compaction is due", () => {
  const small = {
    trigger: { kind: "reserve", tokens: 8_000 },
    keep: { kind: "tokens", count: 8_000 },
    maxSummaryTokens: 6_400,
    maxTurnContextTokens: 4_000,
  }
  expect(within(32_000)).toMatchObject(small)
  expect(within(32_000, { preset: "reserve" })).toMatchObject(small)
  expect(within(32_000, { reserveTokens: 5, keepRecentTokens: 5 }, { preset: "reserve" })).toMatchObject(small)
})

test("the same holds for an early threshold in a large window", () => {
  expect(within(200_000, { thresholdTokens: 6_000 }).keep).toEqual({ kind: "tokens", count: 2_000 })
  expect(within(200_000, { thresholdShare: 0.15 }).keep).toEqual({ kind: "tokens", count: 10_000 })
  expect(within(200_000, { thresholdShare: 0.8 }).keep).toEqual({ kind: "tokens", count: 20_000 })
  expect(within(32_000, { reserveTokens: 29_000 }).keep).toEqual({ kind: "tokens", count: 1_000 })
})

test("given numbers stay, whether they fit or not", () => {
  expect(within(8_000, { reserveTokens: 16_384, keepRecentTokens: 20_000, maxSummaryTokens: 9_000 })).toMatchObject({
    trigger: { kind: "reserve", tokens: 16_384 },
    keep: { kind: "tokens", count: 20_000 },
    maxSummaryTokens: 9_000,
    maxTurnContextTokens: 2_000,
  })
})

test("an answer has no more than a part of the summarizer's own window", () => {
  expect(within(200_000, { summarizerWindow: 8_000 })).toMatchObject({
    trigger: { kind: "reserve", tokens: 16_384 },
    maxSummaryTokens: 3_200,
    maxTurnContextTokens: 2_000,
  })
})

test("by default the kept part and a summary leave a fifth of the window before the next compaction is due", () => {
  holds(
    fc.property(fc.integer({ min: 1_000, max: 2_000_000 }), (window) => {
      const { limit, keepRecentTokens, maxSummaryTokens, maxTurnContextTokens } = within(window)
      expect(limit).toBeGreaterThanOrEqual(0.75 * window)
      expect(keepRecentTokens + maxSummaryTokens + maxTurnContextTokens).toBeLessThan(0.8 * limit)
      expect(keepRecentTokens + maxSummaryTokens).toBeLessThan(limit - 0.2 * window)
    }),
    300,
  )
})
