/** Converts the summary of a compaction to messages for a model. */
import type { ContentBlock, ModelMessage } from "../format/message.ts"
import type { ContextMessage } from "./types.ts"

/** How a compaction is sent: as one user message, or as a user message and an assistant's answer to it. */
export type SummaryStyle = "user" | "pair"

export const COMPACTION_INTRO = "The conversation history before this point was compacted into the following summary:"
export const PAIR_INTRO = "The conversation so far was long and has been summarized. Go on from the summary."

export function styleOf(summaryAs: unknown): SummaryStyle {
  return summaryAs === "pair" ? "pair" : "user"
}

export function compactionMessages(
  entryId: string,
  summary: string,
  style: SummaryStyle,
): readonly ContextMessage<ModelMessage>[] {
  return messagesOf(summary, style).map((message) => ({ entryId, kind: "compaction", message }))
}

/** Escapes a closing tag in the summary: text after it, which a model wrote, would read as the user's words. */
export function framed(summary: string): string {
  return `<summary>\n${summary.replace(/<(?=\s*\/\s*summary\b)/gi, "&lt;")}\n</summary>`
}

export function text(content: string): readonly ContentBlock[] {
  return [{ type: "text", text: content }]
}

function messagesOf(summary: string, style: SummaryStyle): ModelMessage[] {
  if (style === "user") return [{ role: "user", content: text(`${COMPACTION_INTRO}\n\n${framed(summary)}`) }]
  const flags = { synthetic: true, summary: true } as const
  return [
    { role: "user", content: text(PAIR_INTRO), ...flags },
    { role: "assistant", content: text(summary), ...flags },
  ]
}
