/** What the settings come to for a model: where nobody has said a number, it is one that the model's window has room for. */
import type { KeepRule } from "../plan/cut-point.ts"
import type { ResolvedSettings, TriggerRule } from "./settings.ts"

/** Kept free for a model's answer. */
export const RESERVE_TOKENS = 16_384
export const KEEP_RECENT_TOKENS = 20_000
/** A reserve that nobody asked for leaves three quarters of a small window to what is said. */
const RESERVE_SHARE = 1 / 4
/** Of what a context has when it is time: a third is kept, a third is for the summary, a third for what comes next. */
const KEEP_SHARE = 1 / 3
/** Of the summarizer's window: the rest is for what is summarized. */
const ANSWER_SHARE = 1 / 2
/** A summary must leave room in the reserve for the prompt around it; the beginning of one turn is the smaller part. */
const SUMMARY_SHARE = 0.8
const TURN_CONTEXT_SHARE = 0.5

/** Every number is there. */
export interface SettingsInWindow extends ResolvedSettings {
  readonly trigger: TriggerRule
  readonly keep: KeepRule
  /** What a minimum of turns or messages gives way to where it alone is more than the window. */
  readonly keepRecentTokens: number
  readonly maxSummaryTokens: number
  readonly maxTurnContextTokens: number
}

/** What somebody has said stands as it is, whether it fits or not. */
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

/** Tokens of a context for which it is time. */
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
