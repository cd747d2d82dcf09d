/** Counts the tokens of a context as a model gets it, and explains why a compacted context still does not fit its window. */
import { compactionMessage } from "../../context/render.ts"
import { pruneMessages } from "../../context/prune/prune.ts"
import type { ContextMessage } from "../../context/types.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { KeepRule } from "../plan/cut-point.ts"
import { type PreparedCompaction, sendable } from "../plan/prepare.ts"
import type { SettingsInWindow } from "../settings/settings.ts"

/**
 * Tokens of a whole context and of its system prompt, which has `promptTokens`: repaired, and pruned if the settings prune. Anything else
 * that the caller sends is unknown here.
 */
export function tokensInView(
  messages: readonly ContextMessage[],
  { prune, countTokens: count = estimateMessage, window }: SettingsInWindow,
  promptTokens: number,
): number {
  const whole = sendable(messages)
  const view =
    prune === false ? whole : pruneMessages(whole, prune, { window, otherTokens: promptTokens, count }).messages
  let tokens = promptTokens
  for (const { message } of view) tokens += count(message)
  return tokens
}

/** A rule by the name of its setting. */
export function describeRule({ kind, count }: KeepRule): { readonly name: string; readonly text: string } {
  const name = { tokens: "keepRecentTokens", turns: "keepTurns", messages: "keepMessages" }[kind]
  return { name, text: `${name} (${count})` }
}

/** Why a compacted context, pruned if the settings prune, does not fit the window; undefined if it fits. */
export function tooLargeFor(
  settings: SettingsInWindow,
  summary: string,
  { kept, keep, system }: PreparedCompaction,
  promptTokens: number,
): string | undefined {
  const { window, countTokens: count = estimateMessage, summaryAs } = settings
  const tokens = tokensInView(
    [...system, compactionMessage("", summary, { summaryAs }), ...kept],
    settings,
    promptTokens,
  )
  if (tokens <= window) return undefined
  let keptTokens = 0
  let largest = { tokens: 0, what: "" }
  for (const { entryId, message } of kept) {
    const own = count(message)
    keptTokens += own
    const what = message.role === "toolResult" ? "tool result" : "message"
    if (own > largest.tokens) largest = { tokens: own, what: `the ${what} of entry ${entryId}` }
  }
  const { name, text } = describeRule(keep)
  const all = `The context still has about ${tokens} tokens and the window has ${window}: ${text} keeps ${keptTokens} of them`
  if (largest.tokens > window)
    return `${all}, and ${largest.what} alone has ${largest.tokens}. Prune the context, edit that entry, or use a larger window.`
  return `${all}. Lower ${name}, prune the context, or use a larger window.`
}
