/** The summary of a compaction for a model. Beside the fast path of contexts, which needs nothing else of `model-messages.ts`. */
import type { ContentBlock, ModelMessage } from "../format/message.ts"
import type { ContextMessage } from "./types.ts"

const COMPACTION_INTRO = "The conversation history before this point was compacted into the following summary:"
const PAIR_INTRO = "The conversation so far was long and has been summarized. Go on from the summary."

/** The summary of a compaction for a model. Any other style than `"pair"` is `"user"`. */
export function compactionMessages(
  entryId: string,
  summary: string,
  style: unknown,
): readonly ContextMessage<ModelMessage>[] {
  const flags = { synthetic: true, summary: true } as const
  const messages: readonly ModelMessage[] =
    style === "pair"
      ? [
          { role: "user", content: text(PAIR_INTRO), ...flags },
          { role: "assistant", content: text(summary), ...flags },
        ]
      : [{ role: "user", content: text(`${COMPACTION_INTRO}\n\n${inSummaryTags(summary)}`) }]
  return messages.map((message) => ({ entryId, kind: "compaction", message }))
}

/** Escapes a closing tag in the summary: text after it, which a model wrote, would read as the user's words. */
export function inSummaryTags(summary: string): string {
  return `<summary>\n${summary.replace(/<(?=\s*\/\s*summary\b)/gi, "&lt;")}\n</summary>`
}

export function text(content: string): readonly ContentBlock[] {
  return [{ type: "text", text: content }]
}
