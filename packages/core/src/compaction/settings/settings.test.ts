import { expect, test } from "vitest"
import { codeOf } from "../../../test/writers.ts"
import { inWindow } from "./in-window.ts"
import { resolveSettings } from "./settings.ts"
import type { CompactionSettings } from "../types.ts"

const resolving = (...layers: readonly CompactionSettings[]) => codeOf((async () => resolveSettings(...layers))())

test("without a word from anybody: the reserve of 16,384, 20,000 tokens kept, three failures", () => {
  expect(inWindow(resolveSettings(), 200_000)).toEqual({
    enabled: true,
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
    summarizerWindow: undefined,
    temperature: undefined,
    summaryAs: "user",
    maxFailures: 3,
    prune: false,
  })
  expect(resolveSettings({ preset: "reserve" })).toEqual(resolveSettings())
})

test("a later layer overrides an earlier one, setting by setting; undefined says nothing", () => {
  const layers: CompactionSettings[] = [
    { enabled: false, minMessages: 4, maxFailures: 1 },
    { enabled: true, minMessages: undefined as never },
    { maxFailures: 5, temperature: 0 },
  ]
  expect(resolveSettings(...layers)).toMatchObject({ enabled: true, minMessages: 4, maxFailures: 5, temperature: 0 })
})

test("of a group the last layer that names one of it decides, whichever it names", () => {
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
  // What another rule falls back on, and what the size of a summary comes from, stay.
  const mixed = inWindow(
    resolveSettings({ keepRecentTokens: 5, reserveTokens: 1_000 }, { keepTurns: 2, thresholdTokens: 9 }),
    200_000,
  )
  expect(mixed).toMatchObject({ keepRecentTokens: 5, maxSummaryTokens: 800, maxTurnContextTokens: 500 })
})

test("two settings of one group at one layer are invalid, whatever the group; at two layers they are not", async () => {
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

test("a value that cannot mean anything is invalid, and the sentence names the setting", () => {
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
    ["prune", ["yes", 1, null]],
    ["windows", [{ claude: 0 }]],
  ]
  for (const [key, values] of wrong) {
    for (const value of values) {
      expect(() => resolveSettings({ [key]: value }), `${key}: ${String(value)}`).toThrow(new RegExp(key))
    }
  }
})

test("options of pruning are held to what pruning takes", () => {
  expect(() => resolveSettings({ prune: { softTrimShare: 2 } })).toThrow(/softTrimShare/)
})

test("a preset stands beneath what its own layer says, and over what the layers before it said", () => {
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
    prune: true,
  })
  expect(resolveSettings({ preset: "share-90" })).toMatchObject({
    trigger: { kind: "share", share: 0.9 },
    keep: { kind: "messages", count: 10 },
    rounds: true,
    temperature: 0,
    prune: { toolResultBudget: 50_000, softTrimShare: false, hardClearShare: false },
  })
})

test("windows are gathered over the layers, row by row", () => {
  expect(resolveSettings({ windows: { a: 1, b: 2 } }, { windows: { b: 3 } }).windows).toEqual({ a: 1, b: 3 })
})
