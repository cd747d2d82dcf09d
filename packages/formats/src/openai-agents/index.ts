/** The items of the OpenAI Agents SDK: an array of them, as its sessions hold them. They are items of the Responses API under other names. */
import type { Format } from "../base/format.ts"
import { RESPONSES_CALLS } from "../base/call-ids.ts"
import { defineListFormat } from "../base/list.ts"
import { recordsOfItems } from "../openai-responses/read.ts"
import { writtenItems } from "../openai-responses/write.ts"
import type { Fields } from "../base/values.ts"
import { agentsItems, responsesItem } from "./items.ts"

export const openaiAgents: Format = defineListFormat({
  format: "openai-agents",
  title: "OpenAI Agents SDK items",
  versions: "0.20",
  field: "items",
  contents: "context",
  calls: RESPONSES_CALLS,
  rejects(records) {
    if (records.some(({ call_id: id }) => id !== undefined)) return "has items of the Responses API"
    return records.some(isItem) ? undefined : "has no item with a `callId`, and no message with a `type`"
  },
  read: (records) => recordsOfItems(records, responsesItem),
  write(messages, losses) {
    const toolNames = new Map<string, string>()
    for (const { message } of messages) {
      if (message.role === "toolResult" && message.toolName !== undefined)
        toolNames.set(message.toolCallId, message.toolName)
      for (const block of message.content) if (block.type === "toolCall") toolNames.set(block.id, block.name)
    }
    return agentsItems(
      messages.flatMap((written) => writtenItems(written, losses)),
      toolNames,
      losses,
    )
  },
})

function isItem({ type, callId, role, content }: Fields): boolean {
  if (type === "message") return typeof role === "string" && (typeof content === "string" || Array.isArray(content))
  return typeof type === "string" && typeof callId === "string"
}
