/** The items of OpenAI's Responses API: an array of them, or an object that has them in `input`, such as the body of a request. */
import type { Format } from "../base/format.ts"
import { RESPONSES_CALLS } from "../base/call-ids.ts"
import { defineListFormat } from "../base/list.ts"
import type { Fields } from "../base/values.ts"
import { recordsOfItems } from "./read.ts"
import { writtenItems } from "./write.ts"

export const openaiResponses: Format = defineListFormat({
  format: "openai-responses",
  title: "OpenAI Responses items",
  field: "input",
  contents: "context",
  calls: RESPONSES_CALLS,
  rejects(records) {
    if (records.some(({ callId }) => callId !== undefined)) return "has items of the OpenAI Agents SDK"
    return records.some(isItem) ? undefined : "has no message with a type, call or result of the Responses API"
  },
  read: (records) => recordsOfItems(records),
  write: (messages, losses) => messages.flatMap((written) => writtenItems(written, losses)),
})

/** Messages without a type are those of several APIs, unless their parts are of this one. */
function isItem({ type, role, content, call_id: id }: Fields): boolean {
  if (type === "message") return typeof role === "string" && (typeof content === "string" || Array.isArray(content))
  if (typeof type === "string") return typeof id === "string" && CALLS.has(type)
  return Array.isArray(content) && content.some((part: Fields | null) => PARTS.has(part?.["type"]))
}

const CALLS: ReadonlySet<unknown> = new Set([
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
])

const PARTS: ReadonlySet<unknown> = new Set(["input_text", "output_text", "input_image", "input_file"])
