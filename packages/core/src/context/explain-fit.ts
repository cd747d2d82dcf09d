/** Explains why a context does not fit its window, and what a person can do about it. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import type { Measure } from "./assemble.ts"
import type { Ruler } from "./ruler.ts"
import type { ContextMessage, SessionContext } from "./types.ts"

/** Adds a `does_not_fit` with the reason to a context that is larger than its window. */
export function explainFit<M extends Message>(
  context: SessionContext<M>,
  { window, ruler }: Measure,
): SessionContext<M> {
  if (window === undefined || context.fits !== false) return context
  return { ...context, diagnostics: [...context.diagnostics, whyNotFitting(context, window, ruler)] }
}

/** The first reason that applies: what is sent beside the messages is too large, one message is, the tool results are, all together are. */
function whyNotFitting(
  context: SessionContext<Message>,
  window: number,
  { before, sizes, limit, overhead }: Ruler,
): Diagnostic {
  let prompt = before
  let results = 0
  let largest: { readonly item: ContextMessage; readonly tokens: number } | undefined
  for (const [index, item] of context.messages.entries()) {
    const tokens = sizes[index] as number
    if (item.message.role === "system") prompt += tokens
    else if (tokens > (largest?.tokens ?? 0)) largest = { item, tokens }
    if (item.message.role === "toolResult") results += tokens
  }
  const code = "does_not_fit"
  const most = limit(window)
  const room = most === window ? `the window has ${window}` : `the model takes ${most}, as it has refused more`
  if (prompt > most) {
    const what =
      overhead > 0 ? "What is sent beside the messages, such as the prompt and the tools," : "The system prompt alone"
    const message = `${what} has about ${Math.round(prompt)} tokens and ${room}: no context can fit. Shorten it, or use a larger window.`
    return { code, message }
  }
  if (largest !== undefined && largest.tokens > most) {
    const { entryId, kind, message: large } = largest.item
    const what =
      kind === "compaction" ? "summary" : large.role === "toolResult" ? "tool result" : `message of role ${large.role}`
    const message = `The ${what} of entry ${entryId} alone has about ${Math.round(largest.tokens)} tokens and ${room}. Shorten old tool results, edit the entry, or use a larger window.`
    return { code, entryId, message }
  }
  const total = `The context has about ${context.tokens} tokens and ${room}`
  const ofResults = results > most ? `; its tool results alone have about ${Math.round(results)}` : ""
  const isShortened =
    "All but the newest tool results and those of exempt tools are shortened already: compact the session"
  const help = context.pruned === undefined ? "Shorten old tool results, compact the session" : isShortened
  return { code, message: `${total}${ofResults}. ${help}, or use a larger window.` }
}
