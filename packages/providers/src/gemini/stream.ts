/** The chunks of an answer of the Gemini API as a message. */
import type { AssistantMessage } from "@sessions/core"
import type { Fields } from "@sessions/formats/messages/values"
import { checkCall, checkEvent } from "../shared/check.ts"
import { type Accumulator, appendChecked } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { ANSWER, answerOf, type GeminiAnswerOptions } from "./answer.ts"
import type { GeminiAnswer } from "./types.ts"

/**
 * Reads a stream of `client.models.generateContentStream()` to its end, appends the message and returns it. Rejects with the stream's error
 * after it has appended what arrived: `stopReason` is then `"error"`, or `"aborted"`.
 */
export function appendGeminiStream<E extends GeminiAnswer>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: StreamOptions<E> & GeminiAnswerOptions = {},
): Promise<AssistantMessage> {
  return appendChecked("appendGeminiStream", session, stream, o, ANSWER, accumulator)
}

export function accumulateGemini(o: GeminiAnswerOptions = {}): Accumulator<GeminiAnswer> {
  checkCall("accumulateGemini", o, ANSWER)
  return accumulator(o)
}

function accumulator({ candidate = 0 }: GeminiAnswerOptions): Accumulator<GeminiAnswer> {
  let answer: GeminiAnswer = {}
  let stopReason: string | undefined
  const parts: Fields[] = []
  return {
    get isComplete() {
      return stopReason !== undefined
    },
    add(chunk) {
      checkEvent(chunk)
      const { responseId, modelVersion, usageMetadata, candidates = [], promptFeedback } = chunk
      answer = {
        ...answer,
        ...(responseId === undefined ? {} : { responseId }),
        ...(modelVersion === undefined ? {} : { modelVersion }),
        ...(usageMetadata === undefined ? {} : { usageMetadata }),
      }
      stopReason ??= promptFeedback?.blockReason
      const chosen = candidates.find(({ index }, i) => (index ?? i) === candidate)
      for (const part of (chosen?.content?.parts ?? []) as readonly Fields[]) addPart(parts, part)
      stopReason = chosen?.finishReason ?? stopReason
    },
    entries(): readonly AnswerEntry[] {
      if (parts.length === 0 && stopReason === undefined) return []
      return [answerOf(answer, parts, stopReason)]
    },
  }
}

/** A text goes on in the next chunk, unless one of the parts is signed: the API wants a signature back in the part that it came in. */
function addPart(parts: Fields[], part: Fields): void {
  const last = parts.at(-1)
  const isContinued =
    last !== undefined && isPlainText(last) && isPlainText(part) && last["thought"] === part["thought"]
  if (isContinued) parts[parts.length - 1] = { ...last, text: `${String(last["text"])}${String(part["text"])}` }
  else if (!(isPlainText(part) && part["text"] === "")) parts.push(part)
}

function isPlainText(part: Fields): boolean {
  return typeof part["text"] === "string" && Object.keys(part).every((key) => key === "text" || key === "thought")
}
