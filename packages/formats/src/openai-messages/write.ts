/** Messages of the Chat Completions API from ours. */
import type { AssistantMessage, ContentBlock, ModelMessage, ToolResultMessage } from "@sessions/core"
import { lostAttachments, lostBlock, lostError, lostFile, lostThinking } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, fieldsOf, textBlock, jsonOf } from "../base/values.ts"
import { PART } from "./read.ts"

export function recordOf(message: ModelMessage, losses: Losses): Fields {
  lostAttachments(message, losses)
  switch (message.role) {
    case "system":
      return { role: "system", content: contentOf(textsOf(message.content, losses)) }
    case "user":
      return { role: "user", content: contentOf(message.content.flatMap((block) => partsOf(block, losses))) }
    case "assistant":
      return assistantOf(message, losses)
    case "toolResult":
      return resultOf(message, losses)
  }
}

function assistantOf({ content }: AssistantMessage, losses: Losses): Fields {
  const parts = textsOf(
    content.filter(({ type }) => type !== "toolCall"),
    losses,
  )
  const calls = content.flatMap((block) => {
    if (block.type !== "toolCall") return []
    const { id, name, arguments: args } = block
    return [{ id, type: "function", function: { name, arguments: jsonOf(args) } }]
  })
  const text = parts.length === 0 ? null : contentOf(parts)
  return { role: "assistant", content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

function resultOf(message: ToolResultMessage, losses: Losses): Fields {
  lostError(message, losses)
  return { role: "tool", tool_call_id: message.toolCallId, content: contentOf(textsOf(message.content, losses)) }
}

/** A content of one text is a text. */
function contentOf(parts: readonly Fields[]): unknown {
  if (parts.length === 0) return ""
  const { type, text } = fieldsOf(parts[0])
  return parts.length === 1 && type === "text" && typeof text === "string" ? text : parts
}

/** Only users' messages may have images. */
function textsOf(content: readonly ContentBlock[], losses: Losses): readonly Fields[] {
  return content.flatMap((block): readonly Fields[] => {
    if (block.type !== "image") return partsOf(block, losses)
    losses.add("images", 1, (n) => `${n} images of tools and assistants are not in the file.`)
    return []
  })
}

function partsOf(block: ContentBlock, losses: Losses): readonly Fields[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }]
    case "image":
      return [{ type: "image_url", image_url: { url: dataUrlOf(block) } }]
    case "file":
      lostFile(losses)
      return [textBlock(`[File: ${block.path}]`)]
    case "thinking":
      lostThinking(losses)
      return []
    case PART:
      return [block["part"] as Fields]
    default:
      lostBlock(losses)
      return []
  }
}
