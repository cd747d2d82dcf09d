/** The lines that entries were made of: `{uuid, timestamp, type, message}`. What a line has beside these is the codec's difference. */
import type { ContentBlock, Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, textOf } from "../base/values.ts"

export const FORMAT = "qwen-code"

/** The line of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): readonly Fields[] {
  const { id: uuid, timestamp } = entry
  if (entry.type === "custom") return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
  if (entry.type !== "message") return [{ uuid, timestamp, type: "system" }]
  const { message } = entry
  const { role } = message
  const content: readonly ContentBlock[] = message.content ?? []
  if (role === "toolResult") {
    const { toolCallId: id, toolName: name } = message as Fields
    const response = { id, name, response: { output: textOf(content) } }
    return [
      { uuid, timestamp, type: "tool_result", message: { role: "user", parts: [{ functionResponse: response }] } },
    ]
  }
  const isAssistant = role === "assistant"
  const parts = content.map(partOf)
  return [
    {
      uuid,
      timestamp,
      type: isAssistant ? "assistant" : "user",
      message: { role: isAssistant ? "model" : "user", parts },
    },
  ]
}

function partOf(block: ContentBlock): Fields {
  switch (block.type) {
    case "thinking":
      return { text: block.thinking, thought: true }
    case "toolCall":
      return { functionCall: { id: block.id, name: block.name, args: block.arguments } }
    case "image":
      return { inlineData: { mimeType: block.mimeType, data: block.data } }
    default:
      return block.type === "gemini:part" ? fieldsOf(block["part"]) : { text: block["text"] }
  }
}
