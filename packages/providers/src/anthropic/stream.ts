/** The events of an answer of Anthropic's API as a message. */
import type { AssistantMessage, ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { partialCall } from "../shared/answer.ts"
import { checkEvent } from "../shared/check.ts"
import { type Accumulator, appendChecked } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { answerOf, blockOf } from "./answer.ts"
import { HOSTED_CALLS } from "./rules.ts"
import type { AnthropicAnswer, AnthropicEvent } from "./types.ts"

/**
 * Reads a stream of `client.messages.create({ stream: true })` or `client.messages.stream()` to its end, appends the message and returns it.
 * Rejects with the stream's error after it has appended what arrived: `stopReason` is then `"error"`, or `"aborted"`.
 */
export function appendAnthropicStream<E extends AnthropicEvent>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: StreamOptions<E> = {},
): Promise<AssistantMessage> {
  return appendChecked("appendAnthropicStream", session, stream, o, {}, accumulateAnthropic)
}

interface Piece {
  readonly block: Record<string, unknown>
  citations?: unknown[]
  json: string
  hasEnded: boolean
  /** The arguments are JSON. */
  isWhole: boolean
}

export function accumulateAnthropic(): Accumulator<AnthropicEvent> {
  let start: Fields = {}
  let stopReason: unknown
  let container: unknown
  let usage: Fields = {}
  let isComplete = false
  const pieces: Piece[] = []
  return {
    get isComplete() {
      return isComplete
    },
    add(event) {
      checkEvent(event)
      const { type, index, message, content_block: block, delta, usage: counts } = event as unknown as Fields
      const piece = pieces[index as number]
      switch (type) {
        case "message_start":
          start = fieldsOf(message)
          usage = fieldsOf(start["usage"])
          container = start["container"]
          return
        case "content_block_start":
          pieces[index as number] = { block: { ...fieldsOf(block) }, json: "", hasEnded: false, isWhole: false }
          return
        case "content_block_delta":
          if (piece !== undefined) addDelta(piece, fieldsOf(delta))
          return
        case "content_block_stop":
          if (piece !== undefined) finish(piece)
          return
        case "message_delta":
          stopReason = fieldsOf(delta)["stop_reason"]
          container = fieldsOf(delta)["container"] ?? container
          // The counts are totals; those that are null are not known yet.
          usage = { ...usage, ...Object.fromEntries(Object.entries(fieldsOf(counts)).filter(([, n]) => n !== null)) }
          return
        case "message_stop":
          isComplete = true
      }
    },
    entries(): readonly AnswerEntry[] {
      // A piece whose start did not arrive is missing.
      const content = pieces.flatMap((piece) => pieceBlock(piece, stopReason))
      if (content.length === 0 && !isComplete) return []
      return [answerOf({ ...start, container, stop_reason: stopReason, usage } as unknown as AnthropicAnswer, content)]
    },
  }
}

function addDelta(piece: Piece, delta: Fields): void {
  const { block } = piece
  const append = (key: string, text: unknown) => (block[key] = (stringOf(block[key]) ?? "") + (stringOf(text) ?? ""))
  switch (delta["type"]) {
    case "text_delta":
      append("text", delta["text"])
      return
    case "thinking_delta":
      append("thinking", delta["thinking"])
      return
    case "signature_delta":
      append("signature", delta["signature"])
      return
    case "input_json_delta":
      piece.json += stringOf(delta["partial_json"]) ?? ""
      return
    case "citations_delta":
      // A list of our own: that of the event is not changed, and not copied each time.
      ;(piece.citations ??= [...((block["citations"] as readonly unknown[] | null) ?? [])]).push(delta["citation"])
      block["citations"] = piece.citations
      return
    default:
      // Such as `compaction_delta`: pieces of the fields that they name.
      for (const [key, value] of Object.entries(delta)) if (key !== "type" && value !== null) append(key, value)
  }
}

function finish(piece: Piece): void {
  piece.hasEnded = true
  piece.isWhole = true
  if (piece.json === "") return
  try {
    piece.block["input"] = JSON.parse(piece.json)
  } catch {
    piece.isWhole = false
  }
}

function pieceBlock({ block, json, isWhole, hasEnded }: Piece, stopReason: unknown): ContentBlock {
  const isCall = block["type"] === "tool_use" || HOSTED_CALLS.has(String(block["type"]))
  // The arguments of a call that the model has ended may be no JSON.
  if (block["type"] === "tool_use" && hasEnded && !isWhole && stopReason === "tool_use")
    return blockOf({ ...block, input: json })
  if (isCall && !isWhole) return partialCall(block["id"], block["name"], json)
  const { signature, ...unsigned } = block
  // The signature of thinking that was cut off is an empty text.
  return blockOf(block["type"] === "thinking" && signature === "" ? unsigned : block)
}
