/** Calls of tools that a provider runs itself: the call and its result are blocks of answers, and one without the other is refused. */
import type { ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"

export interface Half {
  readonly of: "call" | "result"
  readonly id: string
}

/** The ids of the calls that have a result behind them, in the same answer or a later one. `halfOf`: undefined for any other block. */
export function pairedIds(
  items: readonly ContextMessage<ModelMessage>[],
  halfOf: (block: ContentBlock) => Half | undefined,
): ReadonlySet<string> {
  const calls = new Set<string>()
  const paired = new Set<string>()
  for (const { message } of items) {
    if (message.role !== "assistant") continue
    for (const block of message.content) {
      const half = halfOf(block)
      if (half?.of === "call") calls.add(half.id)
      else if (half !== undefined && calls.has(half.id)) paired.add(half.id)
    }
  }
  return paired
}
