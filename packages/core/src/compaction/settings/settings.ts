/**
 * Resolves and checks the settings of compaction. They come in four layers, each of which overrides the one before it: the defaults,
 * `createSessions`, `create` or `open`, and the call.
 */
import type { SummaryStyle } from "../../context/summary.ts"
import { pruneSettings } from "../../context/prune/settings.ts"
import type { PruneOptions } from "../../context/prune/settings.ts"
import { SessionError } from "../../format/errors.ts"
import type { KeepRule } from "../plan/cut-point.ts"
import { checkExclusive, counterOf, KEEPS, resolveSetting, MAX_FAILURES, TRIGGERS } from "./layers.ts"
import type { SettingsLayers } from "./layers.ts"
import { PRESETS } from "./presets.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { CompactionSettings, Summarize } from "../types.ts"
import { checkWindows } from "./windows.ts"
import type { WindowTable } from "./windows.ts"

export type TriggerRule =
  | { readonly kind: "reserve"; readonly tokens: number }
  | { readonly kind: "tokens"; readonly tokens: number }
  | { readonly kind: "share"; readonly share: number }

/** The checked settings of all layers; undefined if no layer sets a value. `inWindow` adds the defaults. */
export interface ResolvedSettings {
  readonly enabled: boolean
  readonly summarize: Summarize | undefined
  readonly timeout: number
  readonly contextWindow: number | undefined
  readonly windows: WindowTable
  readonly countTokens: TokenCounter | undefined
  readonly trigger: TriggerRule | undefined
  readonly reserveTokens: number | undefined
  readonly keep: KeepRule | undefined
  readonly keepRecentTokens: number | undefined
  readonly minMessages: number
  readonly maxSummaryTokens: number | undefined
  readonly rounds: boolean
  readonly summarizerWindow: number | undefined
  readonly temperature: number | undefined
  readonly summaryAs: SummaryStyle
  readonly maxFailures: number
  readonly prune: boolean | PruneOptions
}

/** Milliseconds. A long summary takes a large model minutes; a hanging connection would never end. */
export const SUMMARIZER_TIMEOUT = 300_000

/** Merges the layers, lowest priority first. Throws `invalid`. */
export function resolveSettings(...layers: SettingsLayers): ResolvedSettings {
  const given = layers.flatMap((layer) => (layer === undefined ? [] : expandPreset(checkSettings(layer))))
  const last = <K extends keyof CompactionSettings>(key: K): CompactionSettings[K] | undefined =>
    resolveSetting(given, key)
  return {
    enabled: last("enabled") ?? true,
    summarize: last("summarize"),
    timeout: last("timeout") ?? SUMMARIZER_TIMEOUT,
    contextWindow: last("contextWindow"),
    windows: Object.assign({}, ...given.map(({ windows }) => windows)) as WindowTable,
    countTokens: counterOf(given),
    trigger: triggerOf(given),
    reserveTokens: explicitValue(given, "reserveTokens"),
    keep: keepOf(given),
    keepRecentTokens: explicitValue(given, "keepRecentTokens"),
    minMessages: last("minMessages") ?? 0,
    maxSummaryTokens: last("maxSummaryTokens"),
    rounds: last("rounds") ?? false,
    summarizerWindow: last("summarizerWindow"),
    temperature: last("temperature"),
    summaryAs: last("summaryAs") ?? "user",
    maxFailures: last("maxFailures") ?? MAX_FAILURES,
    prune: last("prune") ?? false,
  }
}

/** Throws `invalid` for a wrong value, or two exclusive settings in one layer. */
export function checkSettings(layer: CompactionSettings): CompactionSettings {
  checkExclusive(layer)
  for (const [key, [expected, holds]] of Object.entries(RULES)) {
    const value = layer[key as keyof typeof RULES] as unknown
    if (value === undefined || holds(value)) continue
    throw new SessionError("invalid", `${key} must be ${expected}, not ${shown(value)}.`)
  }
  if (layer.windows !== undefined) checkWindows(layer.windows)
  if (typeof layer.prune === "object") pruneSettings(layer.prune)
  return layer
}

type Rule = readonly [expected: string, holds: (value: unknown) => boolean]

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value)
const FROM_0: Rule = ["a number from 0", (value) => isNumber(value) && value >= 0]
const ABOVE_0: Rule = ["a number above 0", (value) => isNumber(value) && value > 0]
const WHOLE_FROM_0: Rule = ["a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0]
const WHOLE_FROM_1: Rule = ["a whole number from 1", (value) => Number.isSafeInteger(value) && (value as number) >= 1]
const FUNCTION: Rule = ["a function", (value) => typeof value === "function"]

const RULES: Readonly<Record<Exclude<keyof CompactionSettings, "windows">, Rule>> = {
  preset: [
    `one of ${Object.keys(PRESETS).join(", ")}`,
    (value) => typeof value === "string" && Object.hasOwn(PRESETS, value),
  ],
  enabled: ["true or false", (value) => typeof value === "boolean"],
  summarize: FUNCTION,
  timeout: ABOVE_0,
  contextWindow: ABOVE_0,
  countTokens: FUNCTION,
  reserveTokens: FROM_0,
  thresholdTokens: ABOVE_0,
  thresholdShare: ["more than 0 and at most 1", (value) => isNumber(value) && value > 0 && value <= 1],
  keepRecentTokens: FROM_0,
  keepTurns: WHOLE_FROM_0,
  keepMessages: WHOLE_FROM_0,
  minMessages: WHOLE_FROM_0,
  maxSummaryTokens: WHOLE_FROM_1,
  rounds: ["true or false", (value) => typeof value === "boolean"],
  summarizerWindow: ABOVE_0,
  temperature: FROM_0,
  summaryAs: ['"user" or "pair"', (value) => value === "user" || value === "pair"],
  maxFailures: WHOLE_FROM_1,
  prune: [
    "true, false or options of pruning",
    (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
  ],
}

/** The settings of a layer override those of its preset. */
function expandPreset(layer: CompactionSettings): CompactionSettings[] {
  return layer.preset === undefined ? [layer] : [PRESETS[layer.preset], layer]
}

/** Whether a layer's numbers were chosen by the caller. The preset `reserve` is the defaults, which `inWindow` scales down. */
function isExplicit(layer: CompactionSettings | undefined): layer is CompactionSettings {
  return layer !== undefined && layer !== PRESETS.reserve
}

function explicitValue(
  layers: readonly CompactionSettings[],
  key: "reserveTokens" | "keepRecentTokens",
): number | undefined {
  const layer = layers.findLast((one) => one[key] !== undefined)
  return isExplicit(layer) ? layer[key] : undefined
}

/** The last layer that sets a trigger decides. */
function triggerOf(layers: readonly CompactionSettings[]): TriggerRule | undefined {
  const layer = layers.findLast((one) => TRIGGERS.some((key) => one[key] !== undefined))
  if (!isExplicit(layer)) return undefined
  if (layer.reserveTokens !== undefined) return { kind: "reserve", tokens: layer.reserveTokens }
  if (layer.thresholdTokens !== undefined) return { kind: "tokens", tokens: layer.thresholdTokens }
  return layer.thresholdShare === undefined ? undefined : { kind: "share", share: layer.thresholdShare }
}

function keepOf(layers: readonly CompactionSettings[]): KeepRule | undefined {
  const layer = layers.findLast((one) => KEEPS.some((key) => one[key] !== undefined))
  if (!isExplicit(layer)) return undefined
  if (layer.keepRecentTokens !== undefined) return { kind: "tokens", count: layer.keepRecentTokens }
  if (layer.keepTurns !== undefined) return { kind: "turns", count: layer.keepTurns }
  return layer.keepMessages === undefined ? undefined : { kind: "messages", count: layer.keepMessages }
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}
