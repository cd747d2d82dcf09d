/** The chunks of an answer of the Chat Completions API as a message. */
import type { AssistantMessage, ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { answerEntry, partialCall } from "../shared/answer.ts"
import { type Accumulator, appendStream } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { type ChatAnswerOptions, chatUsage, contentOf } from "./answer.ts"
import type { ChatChunk } from "./types.ts"

/**
 * Reads a stream of `client.chat.completions.create({ stream: true })` to its end, appends the message and returns it. Rejects with the
 * stream's error after it has appended what arrived: `stopReason` is then `"error"`, or `"aborted"`. For the usage the request needs
 * `stream_options: { include_usage: true }`.
 */
export function appendOpenAIChatStream<E extends ChatChunk>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: StreamOptions<E> & ChatAnswerOptions = {},
): Promise<AssistantMessage> {
  return appendStream(session, stream, accumulateOpenAIChat(o), o)
}

interface Call {
  readonly index: number
  id: unknown
  type: string
  name: string
  text: string
}

export function accumulateOpenAIChat(o: ChatAnswerOptions = {}): Accumulator<ChatChunk> {
  let [id, model, usage, stopReason]: unknown[] = []
  let hasArrived = false
  const texts: Record<string, string> = {}
  const audio: Record<string, unknown> = {}
  const calls: Call[] = []
  return {
    get isComplete() {
      return stopReason !== undefined
    },
    add(chunk) {
      // They are empty in chunks of Azure's content filter.
      id ||= chunk.id
      model ||= chunk.model
      usage = chunk.usage ?? usage
      for (const [i, { index, delta, finish_reason: finish }] of (chunk.choices ?? []).entries()) {
        if ((index ?? i) !== (o.choice ?? 0)) continue
        stopReason = finish ?? stopReason
        addDelta(fieldsOf(delta))
      }
    },
    entries(): readonly AnswerEntry[] {
      if (!hasArrived && stopReason === undefined) return []
      const isCut = stopReason === undefined
      const whole = calls.filter((call) => !isCut || isJson(call))
      const record = {
        ...texts,
        ...(Object.keys(audio).length === 0 ? {} : { audio }),
        ...(whole.length === 0 ? {} : { tool_calls: whole.map(recordOfCall) }),
      }
      const partial = calls
        .filter((call) => !whole.includes(call))
        .map((call) => partialCall(call.id, call.name, call.text))
      const content: readonly ContentBlock[] = [...contentOf(record, id), ...partial]
      const provider = o.provider ?? "openai"
      return [answerEntry({ content, provider, model, usage: chatUsage(usage), stopReason, responseId: id })]
    },
  }

  function addDelta(delta: Fields): void {
    for (const key of TEXTS) {
      const text = stringOf(delta[key])
      if (text === undefined) continue
      texts[key] = (texts[key] ?? "") + text
      hasArrived ||= text !== ""
    }
    for (const [key, value] of Object.entries(fieldsOf(delta["audio"]))) {
      const before = audio[key]
      const isText = key === "data" || key === "transcript"
      audio[key] = isText && typeof before === "string" ? before + String(value) : value
      hasArrived = true
    }
    for (const [i, call] of ((delta["tool_calls"] ?? []) as readonly Fields[]).entries()) addCall(call, i)
  }

  function addCall({ index, id: callId, type, function: called, custom }: Fields, i: number): void {
    hasArrived = true
    const at = typeof index === "number" ? index : i
    const { name, arguments: args, input } = fieldsOf(called ?? custom)
    let call = calls.findLast((one) => one.index === at)
    // Some providers give all calls one index. Others give each piece of a call another id, but only the first one a name.
    const isNext = Boolean(callId) && Boolean(name) && Boolean(call?.id) && call?.id !== callId
    if (call === undefined || isNext)
      calls.push((call = { index: at, id: undefined, type: "function", name: "", text: "" }))
    if (typeof callId === "string" && callId !== "") call.id = callId
    if (custom !== undefined || type === "custom") call.type = "custom"
    call.name += stringOf(name) ?? ""
    call.text += stringOf(args) ?? stringOf(input) ?? ""
  }
}

const TEXTS = ["content", "refusal", "reasoning_content", "reasoning"] as const

/** The input of a custom tool is any text, so it is whole only if the answer is. */
function isJson({ type, text }: Call): boolean {
  if (type === "custom") return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function recordOfCall({ id, type, name, text }: Call): Fields {
  return type === "custom"
    ? { id, type, custom: { name, input: text } }
    : { id, type, function: { name, arguments: text } }
}
