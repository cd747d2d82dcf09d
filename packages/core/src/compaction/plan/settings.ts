/** Resolves all layers of the settings of compaction. For a model, the default numbers are scaled down to fit its window. */
import { counterOf } from "../../context/settings.ts"
import type { Selection } from "../../context/select.ts"
import type { KeepRule } from "./cut-point.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"
import {
  checkSettings,
  COMPACTION_OPTIONS,
  MAX_FAILURES,
  type SettingsLayers,
  withPresets,
} from "../../compaction-settings/layers.ts"
import { PRESETS } from "../../compaction-settings/presets.ts"
import { windowAt, windowSettings } from "../../compaction-settings/windows.ts"

export type TriggerRule =
  | { readonly kind: "reserve" | "tokens"; readonly tokens: number }
  | { readonly kind: "share"; readonly share: number }

type Defaults = Required<
  Pick<
    CompactionSettings,
    "enabled" | "timeout" | "windows" | "minMessages" | "rounds" | "prompts" | "summaryAs" | "maxFailures" | "shorten"
  >
>

const DEFAULTS: Defaults = {
  enabled: true,
  /** Milliseconds. A long summary takes a large model minutes; a hanging connection would never end. */
  timeout: 300_000,
  windows: {},
  minMessages: 0,
  rounds: false,
  prompts: {},
  summaryAs: "user",
  maxFailures: MAX_FAILURES,
  shorten: false,
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

/** Merges the layers, whose names and values are checked. Throws `invalid` as {@link checkSettings}. */
export function resolveSettings(...layers: SettingsLayers): ResolvedSettings {
  for (const layer of layers) checkSettings(layer)
  const given = withPresets(layers)
  return Object.assign({ ...DEFAULTS }, ...given.map(fieldsOf), {
    ...windowSettings(given),
    prompts: Object.fromEntries(
      given.flatMap(({ prompts = {} }) => Object.entries(prompts).filter(([, text]) => text !== undefined)),
    ),
    countTokens: counterOf(layers),
  }) as ResolvedSettings
}

/** The settings for a context: in their `contextWindow`, else in the window of its current model, else in an assumed one. */
export function settingsAt(selection: Selection, settings: ResolvedSettings): SettingsInWindow {
  const { window, ...unknown } = windowAt(selection, settings)
  return { ...inWindow(settings, window), ...unknown }
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

/** The settings that layers pass on as they are. `windows` and `prompts` are merged. */
const KEYS = (Object.keys(COMPACTION_OPTIONS) as (keyof CompactionSettings)[]).filter(
  (key) => key !== "windows" && key !== "prompts" && !REPLACED.some((replaced) => replaced === key),
)

/** The settings of a layer that override those of the layers before it. The last layer that sets a trigger or a minimum decides. */
function fieldsOf(layer: CompactionSettings): object {
  // The preset `reserve` is the defaults, which `inWindow` scales down. Numbers of the caller are not scaled.
  if (layer === PRESETS.reserve)
    return { trigger: undefined, reserveTokens: undefined, keep: undefined, keepRecentTokens: undefined }
  const fields = KEYS.filter((key) => layer[key] !== undefined).map((key) => [key, layer[key]])
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
