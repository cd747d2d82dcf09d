/** An answer of the Chat Completions API as a message. */
import { type ContentBlock, SessionError, type Usage } from "@sessions/core"
import { messageOfChat } from "@sessions/formats/messages/openai-chat"
import { type Fields, fieldsOf, isObject, stringOf } from "@sessions/formats/messages/values"
import { answerEntry, uncached, usageOf } from "../shared/answer.ts"
import { withNative } from "../shared/native.ts"
import type { AnswerEntry } from "../shared/types.ts"
import type { ChatAnswer } from "./types.ts"

export interface ChatAnswerOptions {
  /** Which choice, if the answer has several. Without it they are `invalid`. */
  readonly choice?: number
  /** The provider's name in the log. Default `"openai"`; many others have this API. */
  readonly provider?: string
}

/** Audio that the model spoke, with its transcript. */
export const AUDIO = "openai:audio"

/** An answer as an entry for `session.append`. */
export function fromOpenAIChat(answer: ChatAnswer, o: ChatAnswerOptions = {}): AnswerEntry {
  const { choices, id, model, usage } = answer
  if (choices.length > 1 && o.choice === undefined)
    throw new SessionError(
      "invalid",
      `The answer has ${choices.length} choices. Say with \`choice\` which one to append.`,
    )
  const chosen = choices.length === 1 ? choices[0] : choices.find(({ index }, i) => (index ?? i) === o.choice)
  if (chosen === undefined) throw new SessionError("invalid", `The answer has no choice ${o.choice ?? 0}.`)
  return answerEntry({
    content: contentOf(chosen.message as Fields, id),
    provider: o.provider ?? "openai",
    model,
    usage: chatUsage(usage),
    stopReason: chosen.finish_reason,
    responseId: id,
  })
}

/** Thinking, text, refusal, audio, calls. `responseId`: of the answer, for calls that have no id. */
export function contentOf(record: Fields, responseId: unknown): readonly ContentBlock[] {
  const { refusal, audio, tool_calls: calls } = record
  const content = blocksOf({ ...record, tool_calls: undefined })
  const theirCalls = Array.isArray(calls) ? (calls as readonly unknown[]).map(fieldsOf) : []
  const more: ContentBlock[] = []
  if (typeof refusal === "string" && refusal !== "") more.push({ type: "text", text: refusal, refusal: true })
  if (isObject(audio)) more.push({ ...audio, type: AUDIO })
  return [
    ...content.filter(({ type }) => type !== "toolCall"),
    ...more,
    ...content.filter(({ type }) => type === "toolCall"),
    // One by one: several calls may have one id.
    ...theirCalls.flatMap((call, i) => callOf({ ...call, id: stringOf(call["id"]) || callId(responseId, i) })),
  ]
}

function blocksOf(record: Fields): readonly ContentBlock[] {
  const message = messageOfChat({ ...record, role: "assistant" }, new Map())
  return (message?.["content"] ?? []) as readonly ContentBlock[]
}

function callOf(call: Fields): readonly ContentBlock[] {
  return blocksOf({ tool_calls: [call] }).map((block) =>
    block.type === "toolCall" ? withNative(block, "openai-chat", call, writtenCall(block)) : block,
  )
}

/** Some providers give calls no ids, and results need them. */
function callId(responseId: unknown, i: number): string {
  return `${stringOf(responseId) || crypto.randomUUID()}-${i + 1}`
}

function writtenCall(block: ContentBlock): Fields {
  const { id, name, arguments: args } = block as unknown as Fields
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } }
}

export function chatUsage(value: unknown): Usage | undefined {
  const { prompt_tokens: input, completion_tokens: output, total_tokens, prompt_tokens_details } = fieldsOf(value)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(prompt_tokens_details)
  return usageOf({
    input: uncached(input, cacheRead, cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    totalTokens: total_tokens,
  })
}
