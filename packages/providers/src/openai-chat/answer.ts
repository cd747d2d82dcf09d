/** An answer of the Chat Completions API as a message. */
import { type ContentBlock, SessionError, type Usage } from "@sessions/core"
import { messageOfChat } from "@sessions/formats/messages/openai-chat"
import { type Fields, fieldsOf, isObject, stringOf, textBlock } from "@sessions/formats/messages/values"
import { answerEntry, uncached, usageOf } from "../shared/answer.ts"
import { checkArgument, checkCall, type Checks, COUNT, isBlocks, TEXT } from "../shared/check.ts"
import { withNative } from "../shared/native.ts"
import type { AnswerEntry } from "../shared/types.ts"
import { withExtras } from "./extras.ts"
import type { ChatAnswer } from "./types.ts"

export interface ChatAnswerOptions {
  /** Which choice, if the answer has several. Without it they are `invalid`. */
  readonly choice?: number
  /**
   * The provider's name in the log. Default `"openai"`; many others have this API. The fields that only it knows, such as `reasoning_content`, go
   * back to the provider of this name: the option `provider` or `dialect` of `toOpenAIChat`.
   */
  readonly provider?: string
}

export const ANSWER: Checks<ChatAnswerOptions> = { choice: COUNT, provider: TEXT }

/** Audio that the model spoke, of which there is no transcript. */
export const AUDIO = "openai:audio"

/** An answer as an entry for `session.append`. */
export function fromOpenAIChat(answer: ChatAnswer, o: ChatAnswerOptions = {}): AnswerEntry {
  const takes = "an answer of `client.chat.completions.create()`, with the list `choices`"
  checkArgument("fromOpenAIChat", isBlocks(fieldsOf(answer)["choices"]), takes, answer)
  checkCall("fromOpenAIChat", o, ANSWER)
  const { choices, id, model, usage } = answer
  if (choices.length > 1 && o.choice === undefined)
    throw new SessionError(
      "invalid",
      `The answer has ${choices.length} choices. Say with \`choice\` which one to append.`,
    )
  const chosen = choices.length === 1 ? choices[0] : choices.find(({ index }, i) => (index ?? i) === o.choice)
  if (chosen === undefined) throw new SessionError("invalid", `The answer has no choice ${o.choice ?? 0}.`)
  checkArgument("fromOpenAIChat", isObject(chosen.message), "an answer whose choices have a `message`", chosen)
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
  const { content, refusal, audio, tool_calls: calls, function_call: older } = record
  const blocks = Array.isArray(content) ? content.flatMap(blocksOfPart) : blocksOf({ content })
  const theirCalls = Array.isArray(calls) ? (calls as readonly unknown[]).map(fieldsOf) : []
  const all: readonly ContentBlock[] = [
    ...blocks,
    ...(typeof refusal === "string" && refusal !== "" ? [{ ...textBlock(refusal), refusal: true }] : []),
    ...(isObject(audio) ? [audioBlock(audio)] : []),
    ...blocksOf({ function_call: older }),
    // One by one: several calls may have one id.
    ...theirCalls.flatMap((call, i) => callOf({ ...call, id: stringOf(call["id"]) || callId(responseId, i) })),
  ]
  return withExtras(all, record)
}

/** Mistral's answers have their thinking among the parts of their content. */
function blocksOfPart(part: unknown): readonly ContentBlock[] {
  const { type, thinking } = fieldsOf(part)
  if (type !== "thinking" || !Array.isArray(thinking)) return blocksOf({ content: [part] })
  const text = thinking.map((one) => stringOf(fieldsOf(one)["text"]) ?? "").join("")
  return [withNative({ type, thinking: text }, "openai-chat", fieldsOf(part), thinkingPart(text))]
}

/** The part of a content that is Mistral's thinking. */
export function thinkingPart(text: string): Fields {
  return { type: "thinking", thinking: [{ type: "text", text }] }
}

/** The transcript is a text, which every provider takes; the id of the audio stands beside it. */
function audioBlock(audio: Fields): ContentBlock {
  const { transcript, ...fields } = audio
  const text = stringOf(transcript) ?? ""
  if (text === "") return { ...fields, type: AUDIO }
  return { ...textBlock(text), native: { api: "openai-chat", fields: { audio: fields } } }
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
