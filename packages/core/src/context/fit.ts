/** Whether a context fits into its window, and where it does not, what a person can do about it. */
import { estimateMessage } from "../format/tokens.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/messages.ts"
import { promptTokens } from "./assemble.ts"
import type { Measure } from "./assemble.ts"
import type { ContextMessage, SessionContext } from "./types.ts"

/** The context, and where it is larger than its window a `does_not_fit` that says why. */
export function explainFit<M extends Message>(
  context: SessionContext<M>,
  { window, count = estimateMessage }: Measure,
): SessionContext<M> {
  if (window === undefined || context.fits !== false) return context
  return { ...context, diagnostics: [...context.diagnostics, whyNotFitting(context, window, count)] }
}

/** The first that applies: the prompt leaves no room; one message alone is too large; the tool results are; all of it is. */
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
  const many = `The context has about ${context.tokens} tokens and the window ${window}`
  const share = results > window ? `; its tool results alone have about ${results}` : ""
  const cut = "It is pruned, all but the newest results and those of exempt tools; compact the session"
  const help = context.pruned === undefined ? "Prune it, or compact the session" : cut
  return { code, message: `${many}${share}. ${help}, or use a larger window.` }
}
