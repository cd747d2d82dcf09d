/** Messages of Anthropic's API from ours. */
import type { ContentBlock, ModelMessage, ToolResultMessage } from "@sessions/core"
import type { WrittenMessage } from "../base/list-format.ts"
import { lostAttachments, lostBlock, lostFile, lostThinking } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { type Fields, textBlock } from "../base/values.ts"
import { API_TYPES, apiContentOf, apiResultOf } from "../claude-code/blocks.ts"

/** Results that follow each other are one message: the API wants those of all calls in the message after them. */
export function recordsOf(messages: readonly WrittenMessage[], losses: Losses, base: Fields = {}): readonly Fields[] {
  const records: Fields[] = []
  let results: Fields[] | undefined
  for (const { message } of messages) {
    lostAttachments(message, losses)
    if (message.role !== "toolResult") {
      results = undefined
      records.push(recordOf(message, losses))
    } else if (results === undefined) {
      results = [resultOf(message, losses)]
      records.push({ role: "user", content: results })
    } else results.push(resultOf(message, losses))
  }
  const [first, ...rest] = records
  return first === undefined ? [] : [{ ...base, ...first }, ...rest]
}

function recordOf(message: Exclude<ModelMessage, ToolResultMessage>, losses: Losses): Fields {
  const { role } = message
  const isAnthropic = role === "assistant" && message.provider === "anthropic"
  const content = blocksOf(message.content, losses, isAnthropic)
  return { role, content: apiContentOf(content, role === "assistant") }
}

function resultOf(message: ToolResultMessage, losses: Losses): Fields {
  const content = blocksOf(message.content, losses, false)
  return apiResultOf({ ...message, content }, false)
}

/** The system prompt; undefined if there is none. */
export function systemOf(system: readonly ModelMessage[]): unknown {
  const texts = system.flatMap(({ content }) => content.filter(({ type, text }) => type === "text" && text !== ""))
  if (texts.length === 0) return undefined
  return apiContentOf(texts, false)
}

/** The blocks that the API takes. It refuses thinking that it did not sign. */
function blocksOf(content: readonly ContentBlock[], losses: Losses, isAnthropic: boolean): readonly ContentBlock[] {
  return content.flatMap((block): readonly ContentBlock[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [block]
      case "image":
      case "toolCall":
        return [block]
      case "thinking":
        if (isAnthropic && typeof block.signature === "string") return [block]
        lostThinking(losses)
        return []
      case "file":
        lostFile(losses)
        return [textBlock(`[File: ${block.path}]`)]
      default:
        if (API_TYPES.has(block.type)) return [block]
        lostBlock(losses)
        return []
    }
  })
}
