/** The records that entries were made of: `{id, timestamp, type, content}`. What a record has beside these is the codec's difference. */
import type { Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, textOf } from "../base/values.ts"

export const FORMAT = "gemini"

/** The record of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): Fields {
  if (entry.type === "custom") return entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)
  if (entry.type !== "message") return {}
  const { id, timestamp, message } = entry
  const text = textOf(message.content ?? [])
  if (message.role !== "assistant") return { id, timestamp, type: "user", content: [{ text }] }
  return { id, timestamp, type: "gemini", content: text, model: message["model"] }
}
