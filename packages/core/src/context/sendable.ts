/** Whether a context can be sent as it is. Beside the fast path of contexts; `repair.ts`, which mends the others, is loaded on first use. */
import type { ContentBlock, Message, ModelMessage, ToolCallBlock } from "../format/message.ts"
import { type Fields, isObject } from "../format/shape.ts"

/** Whether nothing needs repair, as in most contexts. Takes the messages one after the other. */
export class Sendable {
  /** Ids of the calls that have no result yet. */
  readonly #open = new Set<string>()

  /** False: this message, or its place, needs repair. */
  takes(message: ModelMessage): boolean {
    const open = this.#open
    const { role, content } = message
    for (const block of content) if (!isValidBlock(block, role)) return false
    if (role === "toolResult") return open.delete(message.toolCallId)
    if (open.size > 0 || content.length === 0) return false
    if (role !== "assistant") return true
    for (const { type, id } of content as readonly ToolCallBlock[]) {
      if (type !== "toolCall") continue
      if (open.has(id)) return false
      open.add(id)
    }
    return true
  }

  /** Each call has its result. */
  get isWhole(): boolean {
    return this.#open.size === 0
  }
}

/** Whether a provider accepts this block in a message of this role. Reads the fields of the block's type only: contexts ask for each block. */
export function isValidBlock(block: ContentBlock, role: Message["role"]): boolean {
  const fields = block as Fields
  switch (fields["type"]) {
    case "text": {
      const { text } = fields
      // Anthropic refuses a text of white space. The result of a command may be a line break.
      return typeof text === "string" && (role === "toolResult" ? text !== "" : !isBlank(text))
    }
    case "thinking": {
      const { thinking, signature } = fields
      // A provider may withhold the text, and then gives a signature or another field to return.
      return (
        role === "assistant" &&
        typeof thinking === "string" &&
        (signature === undefined || typeof signature === "string") &&
        (thinking !== "" || Object.keys(block).length > 2)
      )
    }
    case "image": {
      const { data, mimeType } = fields
      return typeof data === "string" && data !== "" && typeof mimeType === "string"
    }
    case "file":
      return typeof fields["path"] === "string" && typeof fields["mimeType"] === "string"
    case "toolCall": {
      const { id, name, arguments: args } = fields
      return role === "assistant" && typeof id === "string" && typeof name === "string" && isObject(args)
    }
    default:
      return true
  }
}

/** Most texts start with a letter, so their end, which is elsewhere in memory, need not be read. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && text.trim() === ""
}
