/**
 * The `messages` of Anthropic's API: an object with `system` and `messages`, such as the body of a request, or the array of messages alone.
 */
import type { ModelMessage } from "@sessions/core"
import type { Format } from "../base/format.ts"
import type { RecordMessages } from "../base/list-format.ts"
import { defineListFormat } from "../base/list.ts"
import { type Fields, isObject } from "../base/values.ts"
import { API_CALLS, blocksOf } from "../claude-code/blocks.ts"
import { messagesOf } from "./read.ts"
import { recordsOf, systemOf } from "./write.ts"

export const anthropic: Format = defineListFormat({
  format: "anthropic",
  title: "Anthropic messages",
  field: "messages",
  contents: "context",
  systemIsApart: true,
  calls: API_CALLS,
  rejects: (records) =>
    records.some(isMessage) && !records.some(isOfOtherApi)
      ? undefined
      : "has no messages of the roles `user` and `assistant` alone, with texts or blocks of Anthropic's API",
  factsOf({ system }) {
    const content = blocksOf(system)
    return content.length === 0 ? {} : { messages: [{ role: "system", content }] }
  },
  *read(records): Iterable<RecordMessages> {
    const toolNames = new Map<string, string>()
    for (const record of records) {
      const messages = isObject(record) ? messagesOf(record, toolNames) : undefined
      if (messages !== undefined) yield { records: [record], messages }
      else yield { records: [record], messages: [], problem: "is no message of the role `user` or `assistant`" }
    }
  },
  write: recordsOf,
  writeDocument(messages, { old = {}, isArray, system }) {
    if (system === undefined) return isArray ? messages : { ...old, messages }
    const { system: _, ...rest } = old
    return { ...systemFields(system), ...rest, messages }
  },
  // All results of a message's calls have to be in one message.
  joins: (before, { role }) => role === "toolResult" && before.every((message) => message.role === "toolResult"),
})

function systemFields(system: readonly ModelMessage[]): Fields {
  const content = systemOf(system)
  return content === undefined ? {} : { system: content }
}

function isMessage({ role, content }: Fields): boolean {
  return (role === "user" || role === "assistant") && (typeof content === "string" || Array.isArray(content))
}

/** Whether a record has a role, calls or parts that only OpenAI's APIs have. */
function isOfOtherApi({ type, role, content, tool_calls: calls }: Fields): boolean {
  if ((type !== undefined && type !== "message") || calls !== undefined) return true
  if (role !== "user" && role !== "assistant" && role !== "system") return true
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.some((part) => isObject(part) && typeof part["type"] === "string" && OTHER_PARTS.has(part["type"]))
}

const OTHER_PARTS: ReadonlySet<string> = new Set([
  "image_url",
  "input_audio",
  "refusal",
  "input_text",
  "output_text",
  "input_image",
  "input_file",
])
