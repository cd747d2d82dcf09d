/** Counts the tokens of a context as a model gets it, and explains why a compacted context still does not fit its window. */
import type { Ruler } from "../../context/ruler.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { KeepRule } from "../plan/cut-point.ts"
import { compacted, type PreparedCompaction, sendable } from "../plan/plan-compaction.ts"
import type { Cause } from "./failure.ts"
import type { SettingsInWindow } from "../plan/settings.ts"

/** Tokens of a context that begins with a new summary, as it will be sent: repaired, and pruned if the settings shorten. */
export function tokensInView(
  messages: readonly ContextMessage[],
  { shorten, countTokens: count, window }: SettingsInWindow,
  { before, sizeOf, ...known }: Ruler,
): number {
  const whole = sendable(messages)
  // The prompt in the log is a part of the overhead here.
  const sizes = { window, count, known: { ...known, overhead: before }, reportsFrom: whole.length }
  const view = shorten === false ? whole : shorten.prune(whole, sizes).messages
  let tokens = before
  for (const item of view) tokens += sizeOf(item)
  return Math.round(tokens)
}

/** A rule by the name of its setting. */
export function describeRule({ kind, count }: KeepRule): { readonly name: string; readonly text: string } {
  const name = { tokens: "keepRecentTokens", turns: "keepTurns", messages: "keepMessages" }[kind]
  return { name, text: `${name} (${count})` }
}

/** Why a compacted context, pruned if the settings shorten, does not fit the window; undefined if it fits. */
export function tooLargeFor(
  settings: SettingsInWindow,
  summary: string,
  work: PreparedCompaction,
  ruler: Ruler,
): string | undefined {
  const { summaryAs } = settings
  const window = ruler.limit(settings.window)
  const { kept, keep } = work
  const tokens = tokensInView(compacted(summary, work, summaryAs), settings, ruler)
  if (tokens <= window) return undefined
  let keptTokens = 0
  let largest = { tokens: 0, what: "" }
  for (const item of kept) {
    const { entryId, message } = item
    const own = Math.round(ruler.sizeOf(item))
    keptTokens += own
    const what = message.role === "toolResult" ? "tool result" : "message"
    if (own > largest.tokens) largest = { tokens: own, what: `the ${what} of entry ${entryId}` }
  }
  const { name, text } = describeRule(keep)
  const all = `The context still has about ${tokens} tokens and the window has ${window}: ${text} keeps ${keptTokens} of them`
  if (largest.tokens > window)
    return `${all}, and ${largest.what} alone has ${largest.tokens}. Shorten old tool results, edit that entry, or use a larger window.`
  return `${all}. Lower ${name}, shorten the context, or use a larger window.`
}

/** Why no cut brings a context below a limit, and the way out. `stays`: the messages that no cut removes. */
export function causeOf({ overhead, before, sizeOf }: Ruler, due: number, stays: readonly ContextMessage[]): Cause {
  const limit = Math.max(0, Math.floor(due))
  const at = `of the ${limit} tokens at which it is due`
  // More than half of the limit leaves too little for a conversation.
  if (before > limit / 2) {
    const has = overhead > 0 ? "your prompt and tools have at most" : "the system prompt has"
    const text = `${has} ${Math.round(before)} ${at}; shorten them, raise the threshold, or use a larger window`
    return { what: "overhead", text, limit }
  }
  const [largest] = stays.toSorted((one, other) => sizeOf(other) - sizeOf(one))
  if (largest !== undefined && sizeOf(largest) > limit / 2) {
    const text = `the entry ${largest.entryId}, which the model has not read, has ${Math.round(sizeOf(largest))} ${at}; shorten it, or use a larger window`
    return { what: "message", text, limit }
  }
  const text = `nothing is left to cut below the ${limit} tokens at which it is due; raise the threshold, or use a larger window`
  return { what: "nothing", text, limit }
}
