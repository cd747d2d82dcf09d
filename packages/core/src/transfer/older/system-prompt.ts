/** pi from 0.87 on writes its system prompt as `sections` by name beside an empty `content`, and in later messages only what changed. */
import { type Fields, isObject } from "../../format/shape.ts"

/**
 * The message with the text of its sections in its content, as pi sends it: in the first system message of a path the whole prompt,
 * in a later one each changed section with its name. The sections stay beside it.
 */
export function withSections<T extends Fields>(message: T, isFirst: boolean): T {
  const { role, sections, content } = message
  if (role !== "system" || !isObject(sections)) return message
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const texts = blocks.flatMap((block) => (isText(block) ? [block.text] : []))
  const parts = [texts.join("\n"), ...Object.entries(sections).map(([name, text]) => sectionText(name, text, isFirst))]
  const text = parts.filter((part) => part !== "").join("\n\n")
  if (text === "") return message
  return { ...message, content: [{ type: "text", text }, ...blocks.filter((block) => !isText(block))] }
}

function sectionText(name: string, text: unknown, isFirst: boolean): string {
  if (typeof text !== "string") return text === null && !isFirst ? `Removed system prompt section "${name}".` : ""
  return isFirst ? text : `Updated system prompt section "${name}":\n\n${text}`
}

function isText(block: unknown): block is { readonly text: string } {
  return isObject(block) && block["type"] === "text" && typeof block["text"] === "string"
}
