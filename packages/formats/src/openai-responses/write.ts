/** Items of the Responses API from messages of ours. */
import type { ContentBlock, ToolResultMessage } from "@sessions/core"
import type { WrittenMessage } from "../base/list-format.ts"
import { lostAttachments, lostBlock, lostError, lostFile, lostThinking } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, jsonOf } from "../base/values.ts"
import { PROVIDER } from "./read.ts"

/** The items of a message: a reasoning for each block of thinking, a message, and a call for each call. */
export function writtenItems({ id, message }: WrittenMessage, losses: Losses): readonly Fields[] {
  lostAttachments(message, losses)
  if (message.role === "toolResult") return [resultOf(message, losses)]
  if (message.role !== "assistant") {
    const role = message.role === "system" ? "developer" : message.role
    return [{ type: "message", role, content: contentOf(message.content, "input_text", losses) }]
  }
  const items: Fields[] = []
  const { provider, content } = message
  for (const block of content) {
    if (block.type !== "thinking") continue
    const { thinking, signature } = block
    if (provider === PROVIDER && signature !== undefined) {
      const summary = thinking === "" ? [] : [{ type: "summary_text", text: thinking }]
      items.push({ type: "reasoning", id: `rs_${id}`, summary, encrypted_content: signature })
    } else lostThinking(losses)
  }
  const shown = content.filter(({ type }) => type !== "thinking" && type !== "toolCall")
  if (shown.length > 0)
    items.push({ type: "message", role: "assistant", content: contentOf(shown, "output_text", losses) })
  for (const block of content)
    if (block.type === "toolCall") {
      const { id: callId, name, arguments: args } = block
      items.push({ type: "function_call", call_id: callId, name, arguments: jsonOf(args) })
    }
  return items
}

function resultOf(message: ToolResultMessage, losses: Losses): Fields {
  lostError(message, losses)
  const output = contentOf(message.content, "input_text", losses)
  return { type: "function_call_output", call_id: message.toolCallId, output }
}

/** A content of one text is a text. */
function contentOf(content: readonly ContentBlock[], textType: "input_text" | "output_text", losses: Losses): unknown {
  const parts = content.flatMap((block) => partOf(block, textType, losses))
  const [only] = parts
  if (only === undefined) return ""
  return parts.length === 1 && only["type"] === textType ? only["text"] : parts
}

function partOf(block: ContentBlock, textType: "input_text" | "output_text", losses: Losses): readonly Fields[] {
  switch (block.type) {
    case "text":
      return [{ type: textType, text: block.text }]
    case "image":
      if (textType === "input_text") return [{ type: "input_image", detail: "auto", image_url: dataUrlOf(block) }]
      break
    case "file":
      lostFile(losses)
      return [{ type: textType, text: `[File: ${block.path}]` }]
    default:
      if (API_PARTS.has(block.type)) return [block]
  }
  lostBlock(losses)
  return []
}

/** Parts that imported messages have as they were. */
const API_PARTS: ReadonlySet<string> = new Set(["input_file", "input_image", "refusal"])
