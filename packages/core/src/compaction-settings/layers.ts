/**
 * The settings of compaction as callers give them: in four layers, each of which overrides the one before it: the defaults,
 * `createSessions`, `create` or `open`, and the call. Checks a layer, and finds single settings; `settings.ts` resolves all of them.
 */
import { SessionError } from "../format/errors.ts"
import type { OptionChecks } from "../format/options.ts"
import {
  all,
  type Check,
  isAboveZero,
  isBoolean,
  isCount,
  isFunction,
  isNonEmpty,
  isNumber,
  isObject,
  mapOf,
  numberFrom,
  oneOf,
  wholeFrom,
} from "../format/shape.ts"
import { lastSetting } from "../context/settings.ts"
import type { CompactionSettings } from "./types.ts"
import { PRESETS } from "./presets.ts"

/** Lowest priority first. */
export type SettingsLayers = readonly (CompactionSettings | undefined)[]

/** Default of `maxFailures`. */
export const MAX_FAILURES = 3

const isShare: Check = (value) =>
  typeof value === "number" && value > 0 && value <= 1 ? undefined : " must be a number above 0 and at most 1."
const isShortening: Check = (value) =>
  value === false || (isObject(value) && typeof value["prune"] === "function")
    ? undefined
    : " must be made by shorten(), or false."

/** The names of the settings, and the checks of their values. */
export const COMPACTION_OPTIONS: OptionChecks<CompactionSettings> = {
  preset: oneOf(...Object.keys(PRESETS)),
  enabled: isBoolean,
  summarize: isFunction,
  timeout: isAboveZero,
  contextWindow: isAboveZero,
  windows: mapOf(all(isNumber, isAboveZero)),
  countTokens: isFunction,
  overheadTokens: numberFrom(0),
  reserveTokens: numberFrom(0),
  thresholdTokens: isAboveZero,
  thresholdShare: isShare,
  keepRecentTokens: numberFrom(0),
  keepTurns: isCount,
  keepMessages: isCount,
  minMessages: isCount,
  maxSummaryTokens: wholeFrom(1),
  rounds: isBoolean,
  summarizerWindow: isAboveZero,
  prompts: { system: isNonEmpty, initial: isNonEmpty, update: isNonEmpty },
  temperature: numberFrom(0),
  summaryAs: oneOf("user", "pair"),
  maxFailures: wholeFrom(1),
  shorten: isShortening,
}

/** A layer sets at most one of each list. */
const EXCLUSIVE = [
  ["reserveTokens", "thresholdTokens", "thresholdShare"],
  ["keepRecentTokens", "keepTurns", "keepMessages"],
] as const

/**
 * Throws `invalid` for exclusive settings in one layer. {@link COMPACTION_OPTIONS} has the checks of the names and values, which come first.
 */
export function checkSettings(layer: CompactionSettings = {}): void {
  for (const exclusive of EXCLUSIVE) {
    const both = exclusive.filter((key) => layer[key] !== undefined)
    if (both.length < 2) continue
    const message = `${both.join(" and ")} exclude each other: set only one of ${exclusive.join(", ")}.`
    throw new SessionError("invalid", message)
  }
}

/** The given layers, each behind its preset, which it overrides. */
export function withPresets(layers: SettingsLayers): readonly CompactionSettings[] {
  return layers.flatMap((layer = {}) => (layer.preset === undefined ? [layer] : [PRESETS[layer.preset], layer]))
}

/** One setting, if a layer has it: the last defined value wins. */
export function settingOf<K extends keyof CompactionSettings>(
  layers: SettingsLayers,
  key: K,
): CompactionSettings[K] | undefined {
  return lastSetting(withPresets(layers), key)
}

/** Whether sessions with these settings are compacted automatically. */
export function isAutomatic(layers: SettingsLayers): boolean {
  return settingOf(layers, "enabled") !== false && settingOf(layers, "summarize") !== undefined
}
