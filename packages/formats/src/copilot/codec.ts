/** The events that entries were made of: `{type, id, timestamp, parentId, data}`. What an event has beside these is the codec's difference. */
import type { ContentBlock, Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, textOf } from "../base/values.ts"

export const FORMAT = "copilot"

/** The event of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): Fields {
  const { id, timestamp, parentId } = entry
  const event = (type: string, data: Fields): Fields => ({ type, data, id, timestamp, parentId })
  switch (entry.type) {
    case "message":
      return encodedMessage(entry.message, event)
    case "model_change":
      return event("session.model_change", { newModel: entry.model })
    case "title_change":
      return event("session.title_changed", { title: entry.title })
    case "session_init":
      return event("system.message", { role: "system", content: entry.systemPrompt })
    case "compaction":
      return event("session.compaction_complete", { success: true, summaryContent: entry.summary })
    case "reset_boundary":
      return event("session.context_cleared", {})
    case "leaf":
      return event("session.snapshot_rewind", {})
    case "usage":
      return event("session.shutdown", {})
    case "custom":
      return entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)
    default:
      return {}
  }
}

function encodedMessage(message: Fields, event: (type: string, data: Fields) => Fields): Fields {
  const content = message["content"] as readonly ContentBlock[]
  if (message["role"] === "user") return event("user.message", { content: textOf(content) })
  if (message["role"] === "toolResult") {
    const { toolCallId, isError } = message
    return event("tool.execution_complete", { toolCallId, success: !isError, result: { content: textOf(content) } })
  }
  const toolRequests = content.flatMap((block) => {
    if (block.type !== "toolCall") return []
    return [{ toolCallId: block.id, name: block.name, arguments: block.arguments }]
  })
  const [thinking] = content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []))
  const { model } = message
  return event("assistant.message", {
    model,
    content: textOf(content),
    toolRequests,
    ...(thinking === undefined ? {} : { reasoningText: thinking }),
  })
}
