/** The events of an answer of the Responses API as a message. */
import type { AssistantMessage } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { checkCall, checkEvent } from "../shared/check.ts"
import { type Accumulator, appendChecked } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { ANSWER, answerOf, contentOf, entryOf, type ResponsesAnswerOptions } from "./answer.ts"
import type { ResponsesAnswer, ResponsesEvent } from "./types.ts"

/**
 * Reads a stream of `client.responses.create({ stream: true })` to its end, appends the message and returns it. Rejects with the stream's error
 * after it has appended what arrived: `stopReason` is then `"error"`, or `"aborted"`.
 */
export function appendOpenAIResponsesStream<E extends ResponsesEvent>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: StreamOptions<E> & ResponsesAnswerOptions = {},
): Promise<AssistantMessage> {
  return appendChecked("appendOpenAIResponsesStream", session, stream, o, ANSWER, accumulator)
}

type Item = Record<string, unknown>

export function accumulateOpenAIResponses(o: ResponsesAnswerOptions = {}): Accumulator<ResponsesEvent> {
  checkCall("accumulateOpenAIResponses", o, ANSWER)
  return accumulator(o)
}

function accumulator(o: ResponsesAnswerOptions): Accumulator<ResponsesEvent> {
  let response: Fields = {}
  let isComplete = false
  let failure: Error | undefined
  const items: Item[] = []
  return {
    get isComplete() {
      return isComplete
    },
    get failure() {
      return failure
    },
    add(event) {
      checkEvent(event)
      const fields = event as unknown as Fields
      switch (event.type) {
        case "response.created":
        case "response.in_progress":
          response = fieldsOf(fields["response"])
          return
        case "response.completed":
        case "response.incomplete":
          response = fieldsOf(fields["response"])
          isComplete = true
          return
        case "response.failed":
          response = fieldsOf(fields["response"])
          failure = new Error(stringOf(fieldsOf(response["error"])["message"]) ?? "The response failed.")
          return
        case "error":
          failure = new Error(stringOf(fields["message"]) ?? "The stream reported an error.")
          return
        case "response.output_item.added":
        case "response.output_item.done":
          items[fields["output_index"] as number] = structuredClone(fieldsOf(fields["item"])) as Item
          return
        default: {
          const item = items[fields["output_index"] as number]
          if (item !== undefined) addDelta(item, fields)
        }
      }
    },
    entries(): readonly AnswerEntry[] {
      const { output } = response
      const answer = { ...response, output: Array.isArray(output) ? output : [] } as unknown as ResponsesAnswer
      // The last event has the whole answer; before it there are the items so far.
      if (isComplete && answer.output.length >= items.length) return [entryOf(answer, o)]
      // A stream may have begun behind the first items.
      const arrived = items.filter((item) => item !== undefined)
      const content = contentOf(arrived, answer, !isComplete)
      if (content.length === 0 && !isComplete) return []
      return [answerOf(answer, content, isComplete ? answer.status : undefined, o)]
    },
  }
}

function addDelta(item: Item, event: Fields): void {
  const delta = stringOf(event["delta"]) ?? ""
  const [content, summary] = [event["content_index"] as number, event["summary_index"] as number]
  switch (event["type"]) {
    case "response.output_text.delta":
      appendTo(item, "content", content, { type: "output_text", text: "", annotations: [] }, "text", delta)
      return
    case "response.refusal.delta":
      appendTo(item, "content", content, { type: "refusal", refusal: "" }, "refusal", delta)
      return
    case "response.reasoning_text.delta":
      appendTo(item, "content", content, { type: "reasoning_text", text: "" }, "text", delta)
      return
    case "response.reasoning_summary_text.delta":
      appendTo(item, "summary", summary, { type: "summary_text", text: "" }, "text", delta)
      return
    case "response.function_call_arguments.delta":
      item["arguments"] = (stringOf(item["arguments"]) ?? "") + delta
      return
    case "response.custom_tool_call_input.delta":
      item["input"] = (stringOf(item["input"]) ?? "") + delta
  }
}

function appendTo(item: Item, list: string, index: number, empty: Item, key: string, delta: string): void {
  const parts = (item[list] ??= []) as Item[]
  const part = (parts[index] ??= empty)
  part[key] = (stringOf(part[key]) ?? "") + delta
}
