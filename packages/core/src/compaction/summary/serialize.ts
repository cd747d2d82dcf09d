/** A conversation as flat text for a summarizer. */
import { callsOf } from "../../context/content.ts"
import { toModelMessages } from "../../context/model-messages.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { ContentBlock, ModelMessage } from "../../format/messages.ts"
import { isObject } from "../../format/shape.ts"

/** A tool result goes on for pages; its start says what it was. */
export const RESULT_UNITS = 2_000

/** Pieces are joined by blank lines; thinking is left out. Tags inside content cannot close the tags around it. */
export function serializeConversation(messages: readonly ContextMessage[]): string {
  const pieces = toModelMessages(messages).messages.flatMap(({ message }) => serialize(message))
  return pieces.join("\n\n")
}

/**
 * `<` before a name of ours, so that content cannot close or open what the prompt is built of. Blanks count for nothing, as a model
 * reads tags leniently.
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
      const calls = callsOf(message).map((call) => `${call.name}(${argumentsOf(call.arguments)})`)
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
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(", ")
}

function cut(text: string): string {
  if (text.length <= RESULT_UNITS) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(RESULT_UNITS - 1)) ? RESULT_UNITS - 1 : RESULT_UNITS
  return `${text.slice(0, end)}\n[... ${text.length - end} more characters truncated]`
}
