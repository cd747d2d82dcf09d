/** The chunks of an answer of the Chat Completions API as a message. */
import type { AssistantMessage, ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { answerEntry, partialCall } from "../shared/answer.ts"
import { checkCall, checkEvent } from "../shared/check.ts"
import { type Accumulator, appendChecked } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { ANSWER, type ChatAnswerOptions, chatUsage, contentOf } from "./answer.ts"
import { addPiece, isExtra } from "./extras.ts"
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
  return appendChecked("appendOpenAIChatStream", session, stream, o, ANSWER, accumulator)
}

interface Call {
  id: unknown
  type: string
  name: string
  text: string
  /** What other providers add, such as the signature of a thought in `extra_content`. */
  readonly extras: Record<string, unknown>
}

export function accumulateOpenAIChat(o: ChatAnswerOptions = {}): Accumulator<ChatChunk> {
  checkCall("accumulateOpenAIChat", o, ANSWER)
  return accumulator(o)
}

function accumulator(o: ChatAnswerOptions): Accumulator<ChatChunk> {
  let [id, model, usage, stopReason]: unknown[] = []
  let hasArrived = false
  const content: unknown[] = []
  const texts: Record<string, string> = {}
  const extras: Record<string, unknown> = {}
  const audio: Record<string, unknown> = {}
  const calls: Call[] = []
  /** The last call with each index. */
  const latest = new Map<number, Call>()
  return {
    get isComplete() {
      return stopReason !== undefined
    },
    add(chunk) {
      checkEvent(chunk)
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
      const whole: Call[] = []
      const cut: Call[] = []
      for (const call of calls) (isCut && !isJson(call) ? cut : whole).push(call)
      const record = {
        ...texts,
        ...extras,
        content: contentOfParts(content),
        ...(Object.keys(audio).length === 0 ? {} : { audio }),
        ...(whole.length === 0 ? {} : { tool_calls: whole.map(recordOfCall) }),
      }
      const partial = cut.map((call) => partialCall(call.id, call.name, call.text))
      const blocks: readonly ContentBlock[] = [...contentOf(record, id), ...partial]
      const provider = o.provider ?? "openai"
      return [answerEntry({ content: blocks, provider, model, usage: chatUsage(usage), stopReason, responseId: id })]
    },
  }

  function addDelta(delta: Fields): void {
    hasArrived = addContent(content, delta["content"]) || hasArrived
    const refusal = stringOf(delta["refusal"]) ?? ""
    if (refusal !== "") {
      texts["refusal"] = (texts["refusal"] ?? "") + refusal
      hasArrived = true
    }
    for (const [key, value] of Object.entries(delta)) {
      if (!isExtra(key, value)) continue
      addPiece(extras, key, value)
      hasArrived = true
    }
    for (const [key, value] of Object.entries(fieldsOf(delta["audio"]))) {
      const before = audio[key]
      const isText = key === "data" || key === "transcript"
      audio[key] = isText && typeof before === "string" ? before + String(value) : value
      hasArrived = true
    }
    for (const [i, call] of ((delta["tool_calls"] ?? []) as readonly Fields[]).entries()) addCall(call, i)
  }

  function addCall({ index, id: callId, type, function: called, custom, ...more }: Fields, i: number): void {
    hasArrived = true
    const at = typeof index === "number" ? index : i
    const { name, arguments: args, input } = fieldsOf(called ?? custom)
    let call = latest.get(at)
    // Some providers give all calls one index. Others give each piece of a call another id, but only the first one a name.
    const isNext = Boolean(callId) && Boolean(name) && Boolean(call?.id) && call?.id !== callId
    if (call === undefined || isNext) {
      call = { id: undefined, type: "function", name: "", text: "", extras: {} }
      calls.push(call)
      latest.set(at, call)
    }
    if (typeof callId === "string" && callId !== "") call.id = callId
    if (custom !== undefined || type === "custom") call.type = "custom"
    call.name += stringOf(name) ?? ""
    call.text += stringOf(args) ?? stringOf(input) ?? ""
    for (const [key, value] of Object.entries(more)) if (isExtra(key, value)) addPiece(call.extras, key, value)
  }
}

/** Parts of thinking whose list is our own, so that it grows without a copy for each piece. */
const grown = new WeakSet<Fields>()

/** Adds a piece of the content, a text or a list of parts; false if it is empty. */
function addContent(parts: unknown[], piece: unknown): boolean {
  const pieces: readonly unknown[] = Array.isArray(piece) ? piece : [piece]
  for (const one of pieces) {
    const last = parts.at(-1)
    if (typeof one === "string" && typeof last === "string") parts[parts.length - 1] = last + one
    else if (typeof one === "string" && isPart(last, "text"))
      parts[parts.length - 1] = { ...last, text: String(last["text"]) + one }
    else if (isPart(one, "text") && isPart(last, "text"))
      parts[parts.length - 1] = { ...last, ...one, text: String(last["text"]) + String(one["text"]) }
    else if (isPart(one, "thinking") && isPart(last, "thinking")) parts[parts.length - 1] = moreThinking(last, one)
    else if (one !== undefined && one !== null && one !== "") parts.push(one)
  }
  return parts.length > 0
}

function isPart(value: unknown, type: string): value is Fields {
  return fieldsOf(value)["type"] === type
}

function moreThinking(last: Fields, one: Fields): Fields {
  const list = grown.has(last) ? (last["thinking"] as unknown[]) : joinedTexts(listOf(last))
  for (const part of listOf(one)) addContent(list, [part])
  const more = { ...last, ...one, thinking: list }
  grown.add(more)
  return more
}

function listOf({ thinking }: Fields): readonly unknown[] {
  return Array.isArray(thinking) ? thinking : []
}

/** Texts that follow each other as one. */
function joinedTexts(parts: readonly unknown[]): unknown[] {
  const list: unknown[] = []
  for (const part of parts) addContent(list, [part])
  return list
}

/** A text, or parts of which texts are parts, too. */
function contentOfParts(parts: readonly unknown[]): unknown {
  if (parts.length === 0) return null
  if (parts.length === 1 && typeof parts[0] === "string") return parts[0]
  return parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part))
}

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

function recordOfCall({ id, type, name, text, extras }: Call): Fields {
  return type === "custom"
    ? { id, type, custom: { name, input: text }, ...extras }
    : { id, type, function: { name, arguments: text }, ...extras }
}
