/** The stream of the AI SDK as messages: each step is appended when it has ended, with the results of its tools. */
import type { AssistantMessage, ContentBlock, ToolCallBlock, ToolResultMessage } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { errorText, partialCall, RESULT, toolResult } from "../shared/answer.ts"
import { checkArgument, checkCall, checkEvent, type Checks, checkResultOf, isBlocks } from "../shared/check.ts"
import { type Accumulator, appendChecked } from "../shared/stream.ts"
import type { AnswerEntry, Appendable, StreamOptions } from "../shared/types.ts"
import { type AiSdkEntry, stepEntry } from "./answer.ts"
import { blockOfPart, resultOfPart } from "./parts.ts"
import { MODEL } from "./request.ts"
import type { AiSdkCallEnd, AiSdkStep, AiSdkStreamPart } from "./types.ts"

export interface AiSdkStreamOptions<E> extends StreamOptions<E> {
  /** The model: the stream does not name its provider, which gets signatures of its own thinking only. */
  readonly model?: { readonly provider: string; readonly modelId: string }
}

/**
 * Reads the `stream` of `streamText` to its end, appends the messages and returns the last one of the model. Rejects with the stream's error
 * after it has appended what arrived: `stopReason` is then `"error"`, or `"aborted"`.
 */
export function appendAiSdkStream<E extends AiSdkStreamPart>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: AiSdkStreamOptions<E> = {},
): Promise<AssistantMessage> {
  return appendChecked("appendAiSdkStream", session, stream, o, OPTIONS, accumulator)
}

interface Step {
  readonly parts: Record<string, unknown>[]
  /** Where the texts and inputs are, by their ids. */
  readonly open: Map<string, number>
  readonly results: AiSdkEntry[]
  info: AiSdkStep | undefined
}

type ModelOption = Pick<AiSdkStreamOptions<never>, "model">

const OPTIONS: Checks<ModelOption> = { model: MODEL }

export function accumulateAiSdk(o: ModelOption = {}): Accumulator<AiSdkStreamPart> {
  checkCall("accumulateAiSdk", o, OPTIONS)
  return accumulator(o)
}

function accumulator({ model }: ModelOption): Accumulator<AiSdkStreamPart> {
  let step = newStep()
  let isComplete = false
  let failure: unknown
  return {
    get isComplete() {
      return isComplete
    },
    get failure() {
      return failure
    },
    add(part) {
      checkEvent(part)
      const fields = part as unknown as Fields
      switch (part.type) {
        case "finish-step":
          step.info = stepInfo(fields, model)
          return
        case "finish":
          isComplete = true
          return
        case "error":
          failure = fields["error"] ?? new Error("The stream reported an error.")
          return
        default:
          addPart(step, fields)
      }
    },
    take() {
      if (step.info === undefined) return []
      const done = entriesOf(step)
      step = newStep()
      return done
    },
    entries: () => (step.info === undefined && step.parts.length === 0 ? [] : entriesOf(step)),
  }
}

/**
 * The answer of one call of the model, before its tools run: the event of the SDK's callback `onLanguageModelCallEnd`. The tools of
 * `@sessions/tool-calls/ai-sdk` append it.
 */
export function fromAiSdkCall(event: AiSdkCallEnd): AnswerEntry {
  const takes = "the event of `onLanguageModelCallEnd`, with the list `content`"
  checkArgument("fromAiSdkCall", isBlocks(fieldsOf(event)["content"]), takes, event)
  const { content, provider, modelId, usage, finishReason, responseId } = event
  const step = newStep()
  for (const part of content) addPart(step, part as Fields)
  return stepEntry(contentOf(step), { model: { provider, modelId }, usage, finishReason, response: { id: responseId } })
}

/** The result of a tool that the program has executed, as the streams of the SDK have it. */
export function aiSdkResult(
  call: Pick<ToolCallBlock, "id" | "name">,
  output: unknown,
  o: { readonly isError?: boolean } = {},
): { readonly type: "message"; readonly message: ToolResultMessage } {
  checkResultOf("aiSdkResult", call, output)
  checkCall("aiSdkResult", o, RESULT)
  const { id: toolCallId, name: toolName } = call
  const { isError = false } = o
  if (isError) return toolResult({ id: toolCallId, name: toolName }, sentError(output), { isError })
  const sent = typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null }
  return { type: "message", message: resultOfPart({ toolCallId, toolName, output: sent }) }
}

/** The text that the SDK sends of an error of a tool. */
function sentError(error: unknown): string {
  if (error === undefined || error === null) return "unknown error"
  return error instanceof Error ? error.toString() : errorText(error)
}

const newStep = (): Step => ({ parts: [], open: new Map(), results: [], info: undefined })

function stepInfo({ response, usage, finishReason }: Fields, model: AiSdkStep["model"] | undefined): AiSdkStep {
  const { id, modelId } = fieldsOf(response)
  const named = { provider: model?.provider as string, modelId: stringOf(modelId) ?? model?.modelId ?? "" }
  return { model: named, usage: fieldsOf(usage), finishReason: String(finishReason), response: { id: id as string } }
}

function entriesOf(step: Step): readonly AiSdkEntry[] {
  return [stepEntry(contentOf(step), step.info), ...step.results]
}

function contentOf({ parts }: Step): readonly ContentBlock[] {
  return parts.map((part): ContentBlock => {
    if (part["type"] === "tool-input") return partialCall(part["toolCallId"], part["toolName"], String(part["text"]))
    return blockOfPart(part)
  })
}

function addPart(step: Step, fields: Fields): void {
  const { type, id, providerMetadata, text, toolCallId, toolName } = fields
  const open = step.parts[step.open.get(String(id)) ?? -1]
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
  switch (type) {
    case "text":
    case "reasoning":
      step.parts.push({ type, text, ...options })
      return
    case "text-start":
    case "reasoning-start":
    case "tool-input-start": {
      const kind = (type as string).slice(0, -"-start".length)
      const named = kind === "tool-input" ? { toolCallId: id, toolName } : {}
      const part = { type: kind, text: "", ...named, ...options }
      step.open.set(String(id), step.parts.length)
      step.parts.push(part)
      return
    }
    case "text-delta":
    case "reasoning-delta":
      if (open !== undefined) Object.assign(open, { text: String(open["text"]) + String(text) }, options)
      return
    case "tool-input-delta":
      if (open !== undefined) open["text"] = String(open["text"]) + String(fields["delta"])
      return
    case "text-end":
    case "reasoning-end":
      if (open !== undefined) Object.assign(open, options)
      return
    case "tool-call":
      addCall(step, fields, options)
      return
    case "tool-result":
    case "tool-error":
    case "tool-output-denied":
      addResult(step, fields, options)
      return
    case "file":
    case "reasoning-file": {
      const { base64, mediaType } = fields["file"] as { base64: string; mediaType: string }
      step.parts.push({ type, data: base64, mediaType, ...options })
      return
    }
    case "tool-approval-request":
      step.parts.push({
        type,
        approvalId: fields["approvalId"],
        toolCallId: fieldsOf(fields["toolCall"])["toolCallId"] ?? toolCallId,
      })
      return
    case "custom":
      step.parts.push({ type, kind: fields["kind"], ...options })
  }
}

/** Takes the place of its input. */
function addCall(step: Step, { toolCallId, toolName, input, providerExecuted }: Fields, options: Fields): void {
  const executed = providerExecuted === true ? { providerExecuted } : {}
  const part = { type: "tool-call", toolCallId, toolName, input, ...executed, ...options }
  const at = step.open.get(String(toolCallId))
  // Only once: a second call with the id is one of its own.
  step.open.delete(String(toolCallId))
  if (at === undefined) step.parts.push(part)
  else step.parts[at] = part
}

function addResult(step: Step, fields: Fields, options: Fields): void {
  const { type, toolCallId, toolName, output, error, providerExecuted, preliminary } = fields
  if (preliminary === true) return
  const call = { id: String(toolCallId), name: String(toolName) }
  if (type === "tool-output-denied") {
    const part = { toolCallId, toolName, output: { type: "execution-denied" } }
    step.results.push({ type: "message", message: resultOfPart(part) })
  } else if (providerExecuted === true) {
    const value =
      type === "tool-error" ? { type: "error-text", value: errorText(error) } : { type: "json", value: output }
    step.parts.push({ type: "tool-result", toolCallId, toolName, output: value, ...options })
  } else if (type === "tool-error") step.results.push(aiSdkResult(call, error, { isError: true }))
  else step.results.push(aiSdkResult(call, output))
}
