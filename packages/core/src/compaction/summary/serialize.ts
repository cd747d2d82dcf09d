/** Serializes a conversation as plain text for a summarizer, and counts the text's tokens. */
import { callsOf } from "../../context/content.ts"
import { toModelMessages } from "../../context/model-messages.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { ContentBlock, ModelMessage } from "../../format/message.ts"
import { isObject } from "../../format/shape.ts"
import { textOf as storedText, toJson } from "../../format/stored-text.ts"
import { estimateMessage, type TokenCounter } from "../../format/tokens.ts"

/** UTF-16 units that are kept of a tool result: its beginning is enough for a summary. */
export const RESULT_UNITS = 2_000

/** Messages are separated by blank lines; thinking is left out. Tags in the content are escaped. */
export function serializeConversation(messages: readonly ContextMessage[]): string {
  const texts = toModelMessages(messages).messages.flatMap(({ message }) => serialize(message))
  return texts.join("\n\n")
}

/** Tokens of a text as the user message that a summarizer gets. */
export function tokensOfText(text: string, count: TokenCounter = estimateMessage): number {
  return count({ role: "user", content: [{ type: "text", text }] })
}

/**
 * Escapes the `<` of the tags that the prompt uses, so that content cannot open or close them. White space in a tag is ignored, as
 * models ignore it.
 */
export function escapeTags(text: string): string {
  return text.replace(
    /<(?=\s*(?:\/\s*)?(?:conversation|previous-summary|read-files|modified-files|summary)\b)/gi,
    "&lt;",
  )
}

function serialize(message: ModelMessage): string[] {
  const text = textOf(message.content)
  switch (message.role) {
    case "assistant": {
      const calls = callsOf(message).map((call) => `${storedText(call.name)}(${argumentsOf(call.arguments)})`)
      return [
        ...(text === "" ? [] : [`[Assistant]: ${escapeTags(text)}`]),
        ...(calls.length === 0 ? [] : [`[Assistant tool calls]: ${escapeTags(calls.join("; "))}`]),
      ]
    }
    case "toolResult":
      return [`[Tool result]: ${escapeTags(cut(text))}`]
    case "system":
      return []
    case "user":
      return text === "" ? [] : [`[User]: ${escapeTags(text)}`]
  }
}

function textOf(content: readonly ContentBlock[]): string {
  const texts = content.flatMap((block) => {
    if (block.type === "text" && typeof block["text"] === "string") return [block["text"]]
    if (block.type === "file" && typeof block["path"] === "string") return [`[file ${block["path"]}]`]
    return block.type === "image" ? ["[image]"] : []
  })
  return texts.join("\n")
}

function argumentsOf(args: unknown): string {
  return Object.entries(isObject(args) ? args : {})
    .map(([key, value]) => `${key}=${toJson(value)}`)
    .join(", ")
}

function cut(text: string): string {
  if (text.length <= RESULT_UNITS) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(RESULT_UNITS - 1)) ? RESULT_UNITS - 1 : RESULT_UNITS
  return `${text.slice(0, end)}\n[... ${text.length - end} more characters truncated]`
}
