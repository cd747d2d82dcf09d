/** Explains why a context does not fit its window, and what a person can do about it. */
import { estimateMessage, type TokenCounter } from "../format/tokens.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import { type Measure, promptTokens } from "./assemble.ts"
import type { ContextMessage, SessionContext } from "./types.ts"

/** Adds a `does_not_fit` with the reason to a context that is larger than its window. */
export function explainFit<M extends Message>(
  context: SessionContext<M>,
  { window, count = estimateMessage }: Measure,
): SessionContext<M> {
  if (window === undefined || context.fits !== false) return context
  return { ...context, diagnostics: [...context.diagnostics, whyNotFitting(context, window, count)] }
}

/** The first reason that applies: the prompt is too large, one message is, the tool results are, all messages together are. */
function whyNotFitting(context: SessionContext<Message>, window: number, count: TokenCounter): Diagnostic {
  let prompt = promptTokens(context, count)
  let results = 0
  let largest: { readonly item: ContextMessage; readonly tokens: number } | undefined
  for (const item of context.messages) {
    const tokens = count(item.message)
    if (item.message.role === "system") prompt += tokens
    else if (tokens > (largest?.tokens ?? 0)) largest = { item, tokens }
    if (item.message.role === "toolResult") results += tokens
  }
  const code = "does_not_fit"
  if (prompt > window) {
    const message = `The system prompt alone has about ${prompt} tokens and the window has ${window}: no context can fit. Shorten the prompt, or use a larger window.`
    return { code, message }
  }
  if (largest !== undefined && largest.tokens > window) {
    const { entryId, kind, message: large } = largest.item
    const what =
      kind === "compaction" ? "summary" : large.role === "toolResult" ? "tool result" : `message of role ${large.role}`
    const message = `The ${what} of entry ${entryId} alone has about ${largest.tokens} tokens and the window has ${window}. Prune the context to shorten old tool results, edit the entry, or use a larger window.`
    return { code, entryId, message }
  }
  const total = `The context has about ${context.tokens} tokens and the window has ${window}`
  const ofResults = results > window ? `; its tool results alone have about ${results}` : ""
  const afterPruning =
    "Pruning has already shortened all but the newest tool results and those of exempt tools: compact the session"
  const help = context.pruned === undefined ? "Prune the context, compact the session" : afterPruning
  return { code, message: `${total}${ofResults}. ${help}, or use a larger window.` }
}
