/** The records that entries were made of: `{role, content, tool_calls}`. What a record has beside these is the codec's difference. */
import type { ContentBlock, Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { dataUrlOf, type Fields, fieldsOf, jsonOf } from "../base/values.ts"

export const FORMAT = "kimi-cli"

/** A part of a content that ours do not have, as it was. */
export const PART = "kimi-cli:part"

/** The record of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): readonly Fields[] {
  if (entry.type === "custom") return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
  if (entry.type !== "message") return [{}]
  const {
    role,
    content = [],
    toolCallId,
  } = entry.message as unknown as Fields & { readonly content?: readonly ContentBlock[] }
  const parts = content.filter(({ type }) => type !== "toolCall").map(partOf)
  const calls = content.flatMap((block) => {
    if (block.type !== "toolCall") return []
    const { id, name, arguments: args } = block
    return [{ type: "function", id, function: { name, arguments: jsonOf(args) } }]
  })
  const [only, ...more] = parts
  const text = only?.["type"] === "text" && more.length === 0 ? only["text"] : undefined
  return [
    {
      role: role === "toolResult" ? "tool" : role,
      content: text ?? parts,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(role === "toolResult" ? { tool_call_id: toolCallId } : {}),
    },
  ]
}

function partOf(block: ContentBlock): Fields {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "thinking":
      return { type: "think", think: block.thinking, encrypted: block.signature ?? null }
    case "image":
      return { type: "image_url", image_url: { url: dataUrlOf(block), id: null } }
    default:
      return fieldsOf(block["part"])
  }
}
