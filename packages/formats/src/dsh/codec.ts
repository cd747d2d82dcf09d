/** The events that entries were made of. What an event has beside these is the codec's difference. */
import type { ContentBlock, Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, jsonOf, textOf } from "../base/values.ts"

export const FORMAT = "dsh"

/** A block that ours do not have, as it was. */
export const BLOCK = "dsh:block"

/** The event of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): readonly Fields[] {
  const time = Date.parse(entry.timestamp)
  if (entry.type === "custom") return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
  if (entry.type === "compaction")
    return [{ type: "user/message", time, data: said("user", [{ type: "text", text: entry.summary }]) }]
  if (entry.type !== "message") return [{ time }]
  const { id, message } = entry
  const { role, toolCallId } = message as Fields
  const content: readonly ContentBlock[] = message.content ?? []
  if (role === "toolResult") {
    const result = { type: "tool-result", toolCallId, content: [{ type: "text", text: textOf(content) }] }
    return [{ type: "tool/result", time, surfaceOp: "append", data: { message: { id, ...said("user", [result]) } } }]
  }
  const data = { id, ...said(role, content.map(blockOf)) }
  if (role === "user") return [{ type: "user/message", time, surfaceOp: "append", data }]
  const type = role === "assistant" ? "assistant/message" : "system/message"
  return [{ type, time, surfaceOp: "append", data: { message: data } }]
}

function said(role: unknown, content: readonly unknown[]): Fields {
  return { role, content }
}

function blockOf(block: ContentBlock): unknown {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "thinking":
      return { type: "reasoning", text: block.thinking }
    case "toolCall":
      return { type: "tool-call", id: block.id, name: block.name, arguments: jsonOf(block.arguments) }
    default:
      return block["block"]
  }
}
