/** The text of a message, for programs that show or compare it. */
import type { Message } from "./message.ts"
import type { NewMessage } from "./new-entry.ts"
import { isObject } from "./shape.ts"

/**
 * The text of a message: its text blocks, one after the other without a separator, or its content if that is a string. Thinking, tool
 * calls, images and files have none; a message without text gives "".
 */
export function textOf(message: Message | NewMessage): string {
  const content: unknown = message["content"]
  if (typeof content === "string") return content
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  return blocks
    .map((block) =>
      isObject(block) && block["type"] === "text" && typeof block["text"] === "string" ? block["text"] : "",
    )
    .join("")
}
