/** Resolves the settings for a model: defaults are scaled down to fit the model's window. */
import type { KeepRule } from "../plan/cut-point.ts"
import type { ResolvedSettings, TriggerRule } from "./settings.ts"

/** Tokens kept free for the model's answer. */
export const RESERVE_TOKENS = 16_384
export const KEEP_RECENT_TOKENS = 20_000
/** The default reserve takes at most a quarter of a small window. */
const RESERVE_SHARE = 1 / 4
/** Share of the trigger's limit: a third is kept, a third is left for the summary, a third for new messages. */
const KEEP_SHARE = 1 / 3
/** Share of the summarizer's window for its answer; the rest is for the messages to summarize. */
const ANSWER_SHARE = 1 / 2
/** Shares of the answer's tokens: a summary leaves space for the prompt around it; the beginning of one turn gets less. */
const SUMMARY_SHARE = 0.8
const TURN_CONTEXT_SHARE = 0.5

/** Settings in which every number is set. */
export interface SettingsInWindow extends ResolvedSettings {
  readonly trigger: TriggerRule
  readonly keep: KeepRule
  /** Replaces a minimum of turns or messages that alone is larger than the window. */
  readonly keepRecentTokens: number
  readonly maxSummaryTokens: number
  readonly maxTurnContextTokens: number
}

/** Numbers that the caller set are not scaled, even if they do not fit. */
export function inWindow(settings: ResolvedSettings, window: number): SettingsInWindow {
  const reserveTokens = settings.reserveTokens ?? shareOf(window, RESERVE_SHARE, RESERVE_TOKENS)
  const trigger = settings.trigger ?? { kind: "reserve", tokens: reserveTokens }
  const time = timeAt(trigger, window)
  const keepRecentTokens =
    settings.keepRecentTokens ?? shareOf(time > 0 ? time : window, KEEP_SHARE, KEEP_RECENT_TOKENS)
  // The summarizer's own window may be the smaller one.
  const { summarizerWindow = window } = settings
  const forAnswer = shareOf(summarizerWindow, ANSWER_SHARE, reserveTokens)
  const maxSummaryTokens = settings.maxSummaryTokens ?? atLeastOne(SUMMARY_SHARE * forAnswer)
  return {
    ...settings,
    trigger,
    keep: settings.keep ?? { kind: "tokens", count: keepRecentTokens },
    keepRecentTokens,
    maxSummaryTokens,
    maxTurnContextTokens: Math.min(maxSummaryTokens, atLeastOne(TURN_CONTEXT_SHARE * forAnswer)),
  }
}

/** The trigger's limit: the number of tokens from which a context is due. With a reserve, it is due only above the limit. */
export function timeAt(trigger: TriggerRule, window: number): number {
  if (trigger.kind === "reserve") return window - trigger.tokens
  return trigger.kind === "tokens" ? trigger.tokens : trigger.share * window
}

function shareOf(all: number, share: number, most: number): number {
  return Math.min(most, Math.floor(all * share))
}

function atLeastOne(tokens: number): number {
  return Math.max(1, Math.floor(tokens))
}
