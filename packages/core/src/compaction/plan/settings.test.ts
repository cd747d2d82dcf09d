import { shorten } from "../../context/prune/prune.ts"
import { expect, test } from "vitest"
import { codeOf } from "../../../test/writers.ts"
import { shouldCompact } from "./trigger.ts"
import { inWindow, resolveSettings } from "./settings.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"

const resolving = (...layers: readonly CompactionSettings[]) => codeOf((async () => resolveSettings(...layers))())

test("the defaults are a reserve of 16,384, 20,000 tokens kept, and three failures", () => {
  expect(inWindow(resolveSettings(), 200_000)).toEqual({
    enabled: true,
    window: 200_000,
    limit: 183_616,
    summarize: undefined,
    timeout: 300_000,
    contextWindow: undefined,
    windows: {},
    countTokens: undefined,
    trigger: { kind: "reserve", tokens: 16_384 },
    reserveTokens: undefined,
    keep: { kind: "tokens", count: 20_000 },
    keepRecentTokens: 20_000,
    minMessages: 0,
    maxSummaryTokens: 13_107,
    maxTurnContextTokens: 8_192,
    rounds: false,
    prompts: {},
    summarizerWindow: undefined,
    temperature: undefined,
    summaryAs: "user",
    maxFailures: 3,
    shorten: false,
  })
  expect(resolveSettings({ preset: "reserve" })).toEqual(resolveSettings())
})

test("a later layer overrides an earlier one, setting by setting; undefined overrides nothing", () => {
  const layers: CompactionSettings[] = [
    { enabled: false, minMessages: 4, maxFailures: 1 },
    { enabled: true, minMessages: undefined as never },
    { maxFailures: 5, temperature: 0 },
  ]
  expect(resolveSettings(...layers)).toMatchObject({ enabled: true, minMessages: 4, maxFailures: 5, temperature: 0 })
})

test("of exclusive settings the last layer that has one of them wins", () => {
  expect(resolveSettings({ thresholdTokens: 9 }, { thresholdShare: 0.5 }, { reserveTokens: 7 }).trigger).toEqual({
    kind: "reserve",
    tokens: 7,
  })
  expect(resolveSettings({ reserveTokens: 7 }, { thresholdShare: 0.5 }, {}).trigger).toEqual({
    kind: "share",
    share: 0.5,
  })
  expect(resolveSettings({ keepTurns: 2 }, { keepMessages: 0 }).keep).toEqual({ kind: "messages", count: 0 })
  expect(resolveSettings({ keepTurns: 2 }, { keepRecentTokens: 0 }).keep).toEqual({ kind: "tokens", count: 0 })
  // The fallback of another rule and the base of a summary's size stay.
  const mixed = inWindow(
    resolveSettings({ keepRecentTokens: 5, reserveTokens: 1_000 }, { keepTurns: 2, thresholdTokens: 9 }),
    200_000,
  )
  expect(mixed).toMatchObject({ keepRecentTokens: 5, maxSummaryTokens: 800, maxTurnContextTokens: 500 })
})

test("two exclusive settings in one layer are invalid, in any layer; in two layers they are valid", async () => {
  const groups = [
    { reserveTokens: 1, thresholdTokens: 1, thresholdShare: 1 },
    { keepRecentTokens: 1, keepTurns: 1, keepMessages: 1 },
  ]
  for (const group of groups) {
    const entries = Object.entries(group)
    for (const [a, x] of entries) {
      for (const [b, y] of entries) {
        if (a === b) continue
        expect(await resolving({ [a]: x, [b]: y })).toBe("invalid")
        expect(await resolving({}, { [a]: x, [b]: y })).toBe("invalid")
        expect(() => resolveSettings({ [a]: x }, { [b]: y })).not.toThrow()
      }
    }
  }
})

test("an impossible value is invalid, and the error names the setting", () => {
  const wrong: readonly (readonly [keyof CompactionSettings, readonly unknown[]])[] = [
    ["preset", ["best", 1, "toString"]],
    ["enabled", ["yes", 1]],
    ["summarize", ["model"]],
    ["timeout", [0, -1, Number.NaN]],
    ["contextWindow", [0, -5, "200000"]],
    ["countTokens", [4]],
    ["reserveTokens", [-1, Number.NaN, "1"]],
    ["thresholdTokens", [0, -1, Number.NaN]],
    ["thresholdShare", [0, 1.01, -0.5, "0.5"]],
    ["keepRecentTokens", [-1, Number.NaN, "5"]],
    ["keepTurns", [-1, 1.5, "2"]],
    ["keepMessages", [-1, 0.5]],
    ["minMessages", [-1, 0.5]],
    ["maxSummaryTokens", [0, 1.5, Number.NaN]],
    ["rounds", ["yes"]],
    ["summarizerWindow", [0, "8"]],
    ["temperature", [-0.1, "0"]],
    ["summaryAs", ["assistant"]],
    ["maxFailures", [0, -1, 1.5]],
    ["shorten", ["yes", 1, null, true, {}]],
    ["windows", [{ claude: 0 }]],
  ]
  for (const [key, values] of wrong) {
    for (const value of values) {
      expect(() => shouldCompact(1, 1_000, { [key]: value }), `${key}: ${String(value)}`).toThrow(new RegExp(key))
    }
  }
})

test("shortening has the limits of pruning", () => {
  expect(() => shorten({ softTrimShare: 2 })).toThrow(/softTrimShare/)
})

test("a preset is overridden by its own layer's settings, and overrides the layers before it", () => {
  expect(resolveSettings({ thresholdTokens: 5, keepTurns: 1 }, { preset: "reserve" })).toEqual(resolveSettings())
  expect(resolveSettings({ preset: "share-80", keepMessages: 3, temperature: 1 })).toMatchObject({
    trigger: { kind: "share", share: 0.8 },
    keep: { kind: "messages", count: 3 },
    temperature: 1,
    minMessages: 6,
  })
})

test("the numbers of the presets", () => {
  expect(inWindow(resolveSettings({ preset: "threshold-100k" }), 200_000)).toMatchObject({
    trigger: { kind: "tokens", tokens: 100_000 },
    keep: { kind: "messages", count: 0 },
    maxSummaryTokens: 4_096,
    maxTurnContextTokens: 4_096,
  })
  expect(resolveSettings({ preset: "share-80" })).toMatchObject({
    trigger: { kind: "share", share: 0.8 },
    keep: { kind: "turns", count: 4 },
    minMessages: 6,
    maxSummaryTokens: 4_096,
    temperature: 0.3,
    summaryAs: "pair",
    shorten: expect.anything(),
  })
  expect(resolveSettings({ preset: "share-90" })).toMatchObject({
    trigger: { kind: "share", share: 0.9 },
    keep: { kind: "messages", count: 10 },
    rounds: true,
    temperature: 0,
    shorten: expect.anything(),
  })
})

test("windows are merged over the layers, row by row", () => {
  expect(resolveSettings({ windows: { a: 1, b: 2 } }, { windows: { b: 3 } }).windows).toEqual({ a: 1, b: 3 })
})
