/** The lines that entries were made of: `{type, uuid, timestamp, message}`. What a line has beside these is the codec's difference. */
import type { Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, textOf } from "../base/values.ts"

export const FORMAT = "noumen"

/** The lines of an imported entry, as many as it was made of. They must never change: sources are stored as differences from them. */
export function encode(entry: Entry): readonly Fields[] {
  const { id: uuid, timestamp } = entry
  switch (entry.type) {
    case "message": {
      const { role, content = [], toolCallId } = entry.message
      const base = { role: role === "toolResult" ? "tool" : role, content: textOf(content) }
      const message = role === "toolResult" ? { ...base, tool_call_id: toolCallId } : base
      return [{ type: "message", uuid, timestamp, message }]
    }
    case "compaction": {
      const summary = { type: "summary", uuid, timestamp, message: { role: "user", content: entry.summary } }
      return [{ type: "compact-boundary" }, summary]
    }
    case "custom":
      return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
    default:
      return [{}]
  }
}
