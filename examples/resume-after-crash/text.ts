/** Messages and entries as one line of text. */
import type { ContentBlock, Entry, Message } from "@sessions/core"

export function textOf(message: Message): string {
  return (message.content ?? [])
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
    .trim()
}

/** The text of a message with its tool calls and other blocks. */
export function messageLine(message: Message): string {
  return (message.content ?? [])
    .map(blockLine)
    .filter((text) => text !== "")
    .join(" ")
}

export function entryLine(entry: Entry): { readonly kind: string; readonly text: string } {
  if (entry.type === "message") {
    const message = entry.message
    return { kind: message.role, text: messageLine(message) }
  }
  if (entry.type === "tool_policy") return { kind: entry.type, text: `never: ${entry.never.join(", ")}` }
  if (entry.type === "tool_start") return { kind: entry.type, text: `${entry.toolName}, attempt ${entry.attempt}` }
  return { kind: entry.type, text: String(entry["summary"] ?? entry["title"] ?? "") }
}

/** One line without control characters: text from a log is untrusted and must not control the terminal. */
export function oneLine(text: string, units: number): string {
  const line = text
    .slice(0, units * 4)
    .replace(/\s+/g, " ")
    .replace(/\p{C}/gu, "·")
    .trim()
  return line.length > units ? `${line.slice(0, units - 1)}…` : line
}

function blockLine(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text
    case "toolCall":
      return `→ ${block.name} ${JSON.stringify(block.arguments)}`
    case "thinking":
      return ""
    default:
      return `[${block.type}]`
  }
}
