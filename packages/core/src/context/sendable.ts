/** Whether a context can be sent as it is. Apart from `repair.ts`, which few contexts need. */
import type { ModelMessage, ToolCallBlock } from "../format/messages.ts"
import type { ContextMessage } from "./types.ts"

/** Whether there is nothing to repair, as in most contexts: every result right behind its call, every message with content. */
export function isSendable(messages: readonly ContextMessage<ModelMessage>[]): boolean {
  let waiting: string[] = []
  for (const { message } of messages) {
    if (message.role === "toolResult") {
      const call = waiting.indexOf(message.toolCallId)
      if (call < 0) return false
      waiting.splice(call, 1)
      continue
    }
    if (waiting.length > 0 || message.content.length === 0) return false
    if (message.role !== "assistant") continue
    waiting = []
    for (const { type, id } of message.content as readonly ToolCallBlock[]) {
      if (type !== "toolCall") continue
      if (typeof id !== "string") return false
      waiting.push(id)
    }
  }
  return waiting.length === 0
}

export function callsOf(message: ModelMessage): readonly ToolCallBlock[] {
  if (message.role !== "assistant") return []
  return message.content.filter((block): block is ToolCallBlock => block.type === "toolCall")
}
