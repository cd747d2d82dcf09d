/** The message that a line of a transcript is, for programs that look at single lines. `@sessions/formats` reads whole transcripts. */
import type { ContentBlock, Entry } from "@sessions/core"
import { lineIn } from "./lines.ts"

/**
 * The message that an entry of a transcript is: its role and its blocks; undefined for any other entry. The role is `toolResult` if it has
 * only the results of tools. For `createSearch({ toMessage: messageOf, … })` of `@sessions/search`.
 */
export function messageOf(entry: Entry): { role: string; content: string | ContentBlock[] } | undefined {
  const line = lineIn(entry)
  if (line === undefined || (line.type !== "user" && line.type !== "assistant")) return undefined
  const { role, content } = fieldsOf(line["message"])
  if (typeof role !== "string") return undefined
  if (!Array.isArray(content)) return typeof content === "string" ? { role, content } : undefined
  const blocks = content as readonly unknown[]
  const isResults = blocks.length > 0 && blocks.every((block) => fieldsOf(block)["type"] === "tool_result")
  return { role: isResults ? "toolResult" : role, content: blocks.flatMap(toBlocks) }
}

function toBlocks(value: unknown): ContentBlock[] {
  const { type, text, thinking, id, name, input, content } = fieldsOf(value)
  if (type === "text" && typeof text === "string") return [{ type, text }]
  if (type === "thinking" && typeof thinking === "string") return [{ type, thinking }]
  if (type === "tool_result" && typeof content === "string") return [{ type: "text", text: content }]
  if (type === "tool_result" && Array.isArray(content)) return content.flatMap(toBlocks)
  if (type !== "tool_use" || typeof name !== "string") return []
  return [{ type: "toolCall", id: String(id), name, arguments: fieldsOf(input) }]
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
