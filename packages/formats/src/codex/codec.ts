/** The lines of a rollout that an entry was made of: `{timestamp, type, payload}`. What a line has beside these is the codec's difference. */
import type { Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf } from "../base/values.ts"
import { itemsOfMessage } from "./items.ts"

export const FORMAT = "codex"

/** `customType` of a user's message that a compaction repeats. */
export const KEPT = "codex/kept"

/** `customType` of a message of another agent, which begins a turn as a user's does. */
export const AGENT_MESSAGE = "codex/agent_message"

/** `customType` of an item of a compaction that is no message. */
export const ITEM = "codex/item"

/** The lines of an imported entry, as many as it has line numbers. They must never change: sources are stored as differences from them. */
export function encode(entry: Entry): readonly Fields[] {
  const { timestamp } = entry
  const line = (type: string, payload: Fields): Fields => ({ timestamp, type, payload })
  switch (entry.type) {
    case "message":
      return encodedItems(entry.message).map((item) => line("response_item", item))
    case "custom_message":
      return [line("response_item", {})]
    case "model_change":
      return [line("turn_context", { model: entry.model })]
    case "title_change":
      return [line("event_msg", { type: "thread_name_updated", thread_name: entry.title })]
    case "leaf":
      return [line("event_msg", { type: "thread_rolled_back" })]
    case "reset_boundary":
      return [line("compacted", { message: "" })]
    case "compaction":
      return [line("compacted", { message: entry.summary })]
    case "usage":
      return [line("token_usage_record", {})]
    case "custom":
      return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
    default:
      return [{}]
  }
}

/** As in a file: an assistant message of one call is one item, and a call with only a text as its input is a custom one. */
function encodedItems(message: Fields): readonly Fields[] {
  return itemsOfMessage(message, { withThinking: true }).map((item) => {
    if (item["type"] !== "function_call") return item
    const call = (message["content"] as readonly Fields[]).find(({ id }) => id === item["call_id"])
    const args = fieldsOf(call?.["arguments"])
    if (typeof args["input"] !== "string" || Object.keys(args).length !== 1) return item
    return { type: "custom_tool_call", call_id: item["call_id"], name: item["name"], input: args["input"] }
  })
}
