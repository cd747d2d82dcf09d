/**
 * The `messages` of OpenAI's Chat Completions API, which many providers and fine-tuning take: an array of them, or an object that has it in
 * `messages`, such as the body of a request.
 */
import type { Format } from "../base/format.ts"
import type { RecordMessages } from "../base/list-format.ts"
import { defineListFormat } from "../base/list.ts"
import { type Fields, isObject } from "../base/values.ts"
import { messageOf } from "./read.ts"
import { recordOf } from "./write.ts"

export const openaiMessages: Format = defineListFormat({
  format: "openai-messages",
  title: "OpenAI messages",
  field: "messages",
  contents: "context",
  // Of `tool_calls[].id`: "Expected a string with maximum length 40", https://github.com/vercel/ai/issues/5171.
  calls: { idLength: 40, nameLength: 64 },
  rejects(records, document) {
    // Programs that store sessions in such documents have formats of their own.
    if (document?.["sessionId"] !== undefined) return "is a document of another program"
    if (!records.some(isMessage)) return "has no message with a `role` and a `content` or `tool_calls`"
    return records.some(isOfOtherApi) ? "has contents of another API" : undefined
  },
  *read(records): Iterable<RecordMessages> {
    const toolNames = new Map<string, string>()
    for (const record of records) {
      const message = isObject(record) ? messageOf(record, toolNames) : undefined
      if (message !== undefined) yield { records: [record], messages: [message] }
      else yield { records: [record], messages: [], problem: "is no message of a known role with a content" }
    }
  },
  write: (messages, losses) => messages.map(({ message }) => recordOf(message, losses)),
})

function isMessage({ role, content, tool_calls: calls, function_call: older }: Fields): boolean {
  const isSaid = typeof content === "string" || Array.isArray(content)
  return ROLES.has(role) && (isSaid || Array.isArray(calls) || isObject(older))
}

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool", "function"])

/** Whether a record has parts that only Anthropic's or the Responses API has. */
function isOfOtherApi({ type, content }: Fields): boolean {
  if (typeof type === "string") return true
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.some((part) => isObject(part) && typeof part["type"] === "string" && !PARTS.has(part["type"]))
}

const PARTS: ReadonlySet<string> = new Set([
  "text",
  "image_url",
  "input_audio",
  "file",
  "refusal",
  "audio_url",
  "video_url",
])
