/** Reads the text and the tool calls of messages. */
import type { ContentBlock, Message, TextBlock, ToolCallBlock, ToolResultMessage } from "@sessions/core"

export function textOf(content: readonly ContentBlock[] | undefined): string {
  return (content ?? [])
    .filter((block): block is TextBlock => block.type === "text")
    .map(({ text }) => text)
    .join("\n")
}

/** The text to display, also for blocks without text and for unknown roles. */
export function shownText(message: Message): string {
  const shown = (message.content ?? []).map((block) => {
    if (block.type === "text") return block.text
    if (block.type === "toolCall" || block.type === "thinking") return ""
    return `[${block.type}, which this page does not show]`
  })
  const ran = [message["command"], message["code"], message["output"]].filter((text) => typeof text === "string")
  return [...shown, ...ran].filter((text) => text !== "").join("\n")
}

export function callsOf({ role, content }: Message): readonly ToolCallBlock[] {
  return role === "assistant"
    ? (content ?? []).filter((block): block is ToolCallBlock => block.type === "toolCall")
    : []
}

/** The calls of the last answer that have no result. */
export function openCalls(messages: readonly Message[]): readonly ToolCallBlock[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  const answer = messages[last]
  if (answer === undefined) return []
  const after = messages.slice(last + 1)
  // A later message of another kind means that the calls were abandoned.
  if (after.some(({ role }) => role !== "toolResult")) return []
  const answered = new Set(after.map((message) => (message as ToolResultMessage).toolCallId))
  return callsOf(answer).filter(({ id }) => !answered.has(id))
}
