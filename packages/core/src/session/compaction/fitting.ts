/** Windows of models, and what stands in the way where a context does not fit into one after all. */
import type { KeepRule } from "../../compaction/cut-point.ts"
import type { PreparedCompaction } from "../../compaction/prepare.ts"
import type { ResolvedSettings } from "../../compaction/settings.ts"
import { estimateMessage, UNITS_PER_TOKEN } from "../../compaction/tokens.ts"
import type { TokenCounter } from "../../compaction/tokens.ts"
import { windowOf } from "../../compaction/windows.ts"
import type { Selection } from "../../context/select.ts"
import type { CallOptions } from "../../storage/contract.ts"
import { restoreState } from "../reading.ts"
import type { SharedSession } from "../shared-session.ts"

/** The given window, else that of the model that is in force. */
export function windowAt({ state }: Selection, { contextWindow, windows }: ResolvedSettings): number {
  return contextWindow ?? windowOf(state.models["default"]?.model, windows)
}

/** Of the system prompt that the log names; what a caller sends besides, it does not know. */
export async function promptTokensOf(shared: SharedSession, selection: Selection, o: CallOptions): Promise<number> {
  const { systemPromptOverride = "" } = await restoreState(shared, selection, o)
  return Math.ceil(systemPromptOverride.length / UNITS_PER_TOKEN)
}

/** A rule by the name of its setting. */
export function describeRule({ kind, count }: KeepRule): { readonly name: string; readonly text: string } {
  const name = { tokens: "keepRecentTokens", turns: "keepTurns", messages: "keepMessages" }[kind]
  return { name, text: `${name} (${count})` }
}

/** What keeps a compacted context from fitting; undefined where it fits. */
export function tooLargeFor(
  window: number,
  done: {
    readonly work: PreparedCompaction
    readonly tokensAfter: number
    readonly promptTokens: number
    readonly count?: TokenCounter
  },
): string | undefined {
  const { work, tokensAfter, promptTokens, count = estimateMessage } = done
  const tokens = tokensAfter + promptTokens
  if (tokens <= window) return undefined
  let kept = 0
  let largest = { tokens: 0, what: "" }
  for (const { entryId, message } of work.kept) {
    const own = count(message)
    kept += own
    const what = message.role === "toolResult" ? "tool result" : "message"
    if (own > largest.tokens) largest = { tokens: own, what: `the ${what} of entry ${entryId}` }
  }
  const { name, text } = describeRule(work.keep)
  const all = `The context still has about ${tokens} tokens and the window ${window}: ${text} keeps ${kept} of them`
  if (largest.tokens > window)
    return `${all}, and ${largest.what} alone has ${largest.tokens}. Prune the context, edit that entry, or use a larger window.`
  return `${all}. Lower ${name}, prune the context, or use a larger window.`
}
