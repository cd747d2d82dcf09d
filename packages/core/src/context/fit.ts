/** Whether a context fits into its window, and where it does not, what a person can do about it. */
import { estimateMessage, UNITS_PER_TOKEN } from "../compaction/tokens.ts"
import { SessionError } from "../errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextMessage } from "./types.ts"

/** `invalid` for a window that no context could be held against. */
export function checkWindow(window: number | undefined): void {
  if (window === undefined || (typeof window === "number" && window > 0)) return
  throw new SessionError("invalid", `window must be a number of tokens above 0, not ${String(window)}.`)
}

export function promptTokens(systemPrompt: string | undefined): number {
  return Math.ceil((systemPrompt?.length ?? 0) / UNITS_PER_TOKEN)
}

/** The first that applies: the prompt leaves no room; one message alone is too large; the tool results are; all of it is. */
export function whyNotFitting(
  messages: readonly ContextMessage[],
  window: number,
  o: { readonly promptTokens: number; readonly tokens: number },
): Diagnostic {
  let prompt = o.promptTokens
  let results = 0
  let largest: { readonly item: ContextMessage; readonly tokens: number } | undefined
  for (const item of messages) {
    const tokens = estimateMessage(item.message)
    if (item.message.role === "system") prompt += tokens
    else if (tokens > (largest?.tokens ?? 0)) largest = { item, tokens }
    if (item.message.role === "toolResult") results += tokens
  }
  const code = "does_not_fit"
  if (prompt > window) {
    const message = `The system prompt alone has about ${prompt} tokens and the window ${window}: no context can fit. Shorten the prompt, or use a larger window.`
    return { code, message }
  }
  if (largest !== undefined && largest.tokens > window) {
    const { entryId, kind, message: large } = largest.item
    const what =
      kind === "compaction" ? "summary" : large.role === "toolResult" ? "tool result" : `message of role ${large.role}`
    const message = `The ${what} of entry ${entryId} alone has about ${largest.tokens} tokens and the window ${window}. Pruning shortens old tool results; anything else needs an edit of the entry, or a larger window.`
    return { code, entryId, message }
  }
  const many = `The context has about ${o.tokens} tokens and the window ${window}`
  if (results > window)
    return { code, message: `${many}; its tool results alone have about ${results}. Prune the context, or compact.` }
  return { code, message: `${many}. Compact the session, prune the context, or use a larger window.` }
}
