/**
 * Resolves and checks the settings of compaction. They come in four layers, each of which overrides the one before it: the defaults,
 * `createSessions`, `create` or `open`, and the call. For a model, the default numbers are scaled down to fit its window.
 */
import { pruneSettings } from "../../context/prune/settings.ts"
import type { Selection } from "../../context/select.ts"
import { SessionError } from "../../format/errors.ts"
import { checkedCounter, type TokenCounter } from "../../format/tokens.ts"
import type { KeepRule } from "../plan/cut-point.ts"
import type { CompactionSettings } from "../types.ts"
import type { OptionNames } from "../../storage/options.ts"
import { PRESETS } from "./presets.ts"
import { checkWindows, DEFAULT_WINDOW, windowOf } from "./windows.ts"

/** Lowest priority first. */
export type SettingsLayers = readonly (CompactionSettings | undefined)[]

export type TriggerRule =
  | { readonly kind: "reserve" | "tokens"; readonly tokens: number }
  | { readonly kind: "share"; readonly share: number }

type Defaults = Required<
  Pick<
    CompactionSettings,
    "enabled" | "timeout" | "windows" | "minMessages" | "rounds" | "summaryAs" | "maxFailures" | "prune"
  >
>

export const DEFAULTS: Defaults = {
  enabled: true,
  /** Milliseconds. A long summary takes a large model minutes; a hanging connection would never end. */
  timeout: 300_000,
  windows: {},
  minMessages: 0,
  rounds: false,
  summaryAs: "user",
  maxFailures: 3,
  prune: false,
}

/** Tokens kept free for the model's answer. */
const RESERVE_TOKENS = 16_384
const KEEP_RECENT_TOKENS = 20_000
/** The default reserve takes at most a quarter of a small window. */
const RESERVE_SHARE = 1 / 4
/** Share of the trigger's limit: a third is kept, a third is left for the summary, a third for new messages. */
const KEEP_SHARE = 1 / 3
/** Share of the summarizer's window for its answer; the rest is for the messages to summarize. */
const ANSWER_SHARE = 1 / 2
/** Shares of the answer's tokens: a summary leaves space for the prompt around it; the beginning of one turn gets less. */
const SUMMARY_SHARE = 0.8
const TURN_CONTEXT_SHARE = 0.5

/** Settings that `trigger`, `keep` and the settings of the preset replace. */
const REPLACED = ["preset", "thresholdTokens", "thresholdShare", "keepTurns", "keepMessages"] as const

/** The checked settings of all layers. {@link inWindow} adds the defaults that depend on the window. */
export interface ResolvedSettings
  extends Omit<CompactionSettings, keyof Defaults | (typeof REPLACED)[number]>,
    Defaults {
  readonly trigger?: TriggerRule
  readonly keep?: KeepRule
}

/** Settings in which every number is set. */
export interface SettingsInWindow extends ResolvedSettings {
  /** The model's context window in tokens. */
  readonly window: number
  /** The current model, if its window is not known and `window` is assumed. */
  readonly unknownModel?: string
  readonly trigger: TriggerRule
  /** The number of tokens from which a context is due. With a reserve, it is due only above the limit. */
  readonly limit: number
  readonly keep: KeepRule
  /** Replaces a minimum of turns or messages that alone is larger than the window. */
  readonly keepRecentTokens: number
  readonly maxSummaryTokens: number
  readonly maxTurnContextTokens: number
}

/** Merges the layers. Throws `invalid`. */
export function resolveSettings(...layers: SettingsLayers): ResolvedSettings {
  const given = layers.flatMap((layer) => (layer === undefined ? [] : expandPreset(checkSettings(layer))))
  const countTokens = counterOf(given)
  return Object.assign({ ...DEFAULTS }, ...given.map(fieldsOf), {
    windows: Object.assign({}, ...given.map(({ windows }) => windows)),
    ...(countTokens === undefined ? {} : { countTokens }),
  }) as ResolvedSettings
}

/** The settings for a context: in their `contextWindow`, else in the window of its current model, else in an assumed one. */
export function settingsAt({ state }: Selection, settings: ResolvedSettings): SettingsInWindow {
  const { contextWindow, windows } = settings
  const model = state.models["default"]?.model
  const window = contextWindow ?? windowOf(model, windows)
  if (window !== undefined) return inWindow(settings, window)
  return { ...inWindow(settings, DEFAULT_WINDOW), ...(model === undefined ? {} : { unknownModel: model }) }
}

/** Numbers that the caller set are not scaled, even if they do not fit. */
export function inWindow(settings: ResolvedSettings, window: number): SettingsInWindow {
  const reserveTokens = settings.reserveTokens ?? shareOf(window, RESERVE_SHARE, RESERVE_TOKENS)
  const trigger = settings.trigger ?? { kind: "reserve", tokens: reserveTokens }
  const limit = limitOf(trigger, window)
  const keepRecentTokens =
    settings.keepRecentTokens ?? shareOf(limit > 0 ? limit : window, KEEP_SHARE, KEEP_RECENT_TOKENS)
  // The summarizer's own window may be the smaller one.
  const { summarizerWindow = window } = settings
  const forAnswer = shareOf(summarizerWindow, ANSWER_SHARE, reserveTokens)
  const maxSummaryTokens = settings.maxSummaryTokens ?? atLeastOne(SUMMARY_SHARE * forAnswer)
  return {
    ...settings,
    window,
    trigger,
    limit,
    keep: settings.keep ?? { kind: "tokens", count: keepRecentTokens },
    keepRecentTokens,
    maxSummaryTokens,
    maxTurnContextTokens: Math.min(maxSummaryTokens, atLeastOne(TURN_CONTEXT_SHARE * forAnswer)),
  }
}

/** The last defined value wins. */
export function resolveSetting<K extends keyof CompactionSettings>(
  layers: SettingsLayers,
  key: K,
): CompactionSettings[K] | undefined {
  return layers.findLast((layer) => layer?.[key] !== undefined)?.[key]
}

/** The caller's `countTokens`, wrapped so that a wrong result throws. */
export function counterOf(layers: SettingsLayers): TokenCounter | undefined {
  const count = resolveSetting(layers, "countTokens")
  return count === undefined ? undefined : checkedCounter(count)
}

/** Whether sessions with these settings are compacted automatically. No preset sets these two. */
export function isAutomatic(layers: SettingsLayers): boolean {
  return resolveSetting(layers, "enabled") !== false && resolveSetting(layers, "summarize") !== undefined
}

/** Throws `invalid` for a wrong value, or two exclusive settings in one layer. */
export function checkSettings(layer: CompactionSettings): CompactionSettings {
  checkExclusive(layer)
  for (const key of KEYS) {
    const [expected, holds] = RULES[key]
    const value: unknown = layer[key]
    if (value === undefined || holds(value)) continue
    const shown = typeof value === "string" ? JSON.stringify(value) : String(value)
    throw new SessionError("invalid", `${key} must be ${expected}, not ${shown}.`)
  }
  if (layer.windows !== undefined) checkWindows(layer.windows)
  if (typeof layer.prune === "object") pruneSettings(layer.prune)
  return layer
}

/** Exclusive settings: a layer sets at most one of each list. */
const EXCLUSIVE = [
  ["reserveTokens", "thresholdTokens", "thresholdShare"],
  ["keepRecentTokens", "keepTurns", "keepMessages"],
] as const

/** Throws `invalid` for a layer that sets two exclusive settings. */
export function checkExclusive(layer: CompactionSettings): void {
  for (const exclusive of EXCLUSIVE) {
    const both = exclusive.filter((key) => layer[key] !== undefined)
    if (both.length < 2) continue
    const message = `${both.join(" and ")} exclude each other: set only one of ${exclusive.join(", ")} in the same options.`
    throw new SessionError("invalid", message)
  }
}

type Rule = readonly [expected: string, holds: (value: unknown) => boolean]
/** `windows` has a check of its own. */
type Key = Exclude<keyof CompactionSettings, "windows">

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value)
const FROM_0: Rule = ["a number from 0", (value) => isNumber(value) && value >= 0]
const ABOVE_0: Rule = ["a number above 0", (value) => isNumber(value) && value > 0]
const WHOLE_FROM_0: Rule = ["a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0]
const WHOLE_FROM_1: Rule = ["a whole number from 1", (value) => Number.isSafeInteger(value) && (value as number) >= 1]
const FUNCTION: Rule = ["a function", (value) => typeof value === "function"]
const BOOLEAN: Rule = ["true or false", (value) => typeof value === "boolean"]

const RULES: Readonly<Record<Key, Rule>> = {
  preset: [
    `one of ${Object.keys(PRESETS).join(", ")}`,
    (value) => typeof value === "string" && Object.hasOwn(PRESETS, value),
  ],
  enabled: BOOLEAN,
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
  rounds: BOOLEAN,
  summarizerWindow: ABOVE_0,
  temperature: FROM_0,
  summaryAs: ['"user" or "pair"', (value) => value === "user" || value === "pair"],
  maxFailures: WHOLE_FROM_1,
  prune: [
    "true, false or options of pruning",
    (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
  ],
}

/** Its keys are the names of the settings. */
export const optionsOfCompaction: OptionNames<CompactionSettings> = { ...RULES, windows: true }

const KEYS = Object.keys(RULES) as readonly Key[]

/** The settings of a layer override those of its preset. */
function expandPreset(layer: CompactionSettings): CompactionSettings[] {
  return layer.preset === undefined ? [layer] : [PRESETS[layer.preset], layer]
}

/** The settings of a layer that override those of the layers before it. The last layer that sets a trigger or a minimum decides. */
function fieldsOf(layer: CompactionSettings): object {
  // The preset `reserve` is the defaults, which `inWindow` scales down. Numbers of the caller are not scaled.
  if (layer === PRESETS.reserve)
    return { trigger: undefined, reserveTokens: undefined, keep: undefined, keepRecentTokens: undefined }
  const fields = KEYS.filter((key) => layer[key] !== undefined && !REPLACED.some((replaced) => replaced === key)).map(
    (key) => [key, layer[key]],
  )
  return { ...Object.fromEntries(fields), ...triggerOf(layer), ...keepOf(layer) }
}

function triggerOf(layer: CompactionSettings): { readonly trigger?: TriggerRule } {
  const { reserveTokens, thresholdTokens, thresholdShare } = layer
  if (reserveTokens !== undefined) return { trigger: { kind: "reserve", tokens: reserveTokens } }
  if (thresholdTokens !== undefined) return { trigger: { kind: "tokens", tokens: thresholdTokens } }
  return thresholdShare === undefined ? {} : { trigger: { kind: "share", share: thresholdShare } }
}

function keepOf({ keepRecentTokens, keepTurns, keepMessages }: CompactionSettings): { readonly keep?: KeepRule } {
  if (keepRecentTokens !== undefined) return { keep: { kind: "tokens", count: keepRecentTokens } }
  if (keepTurns !== undefined) return { keep: { kind: "turns", count: keepTurns } }
  return keepMessages === undefined ? {} : { keep: { kind: "messages", count: keepMessages } }
}

function limitOf(trigger: TriggerRule, window: number): number {
  if (trigger.kind === "share") return trigger.share * window
  return trigger.kind === "reserve" ? window - trigger.tokens : trigger.tokens
}

function shareOf(all: number, share: number, most: number): number {
  return Math.min(most, Math.floor(all * share))
}

function atLeastOne(tokens: number): number {
  return Math.max(1, Math.floor(tokens))
}
