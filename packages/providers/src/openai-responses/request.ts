/** A context as `instructions` and `input` of the Responses API. */
import type { AssistantMessage, ContextMessage, ModelMessage, ToolResultMessage } from "@sessions/core"
import { itemsOf } from "@sessions/formats/messages/openai-responses"
import type { Fields } from "@sessions/formats/messages/values"
import { addAll } from "../shared/add-all.ts"
import { BOOLEAN, checkCall, checkContext, type Checks, REQUEST, TEXT, TIME } from "../shared/check.ts"
import type { Lost } from "../shared/lost.ts"
import { isNative } from "../shared/native.ts"
import { BEGINNING } from "../shared/order.ts"
import { prepare } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { answerItems, plain, type Receiver } from "./assistant.ts"
import { hostedOutput, withHostedCalls } from "./hosted.ts"
import { HOSTED_CALLS, RULES } from "./rules.ts"
import type { ResponsesItem, ResponsesRequest } from "./types.ts"

export interface OpenAIResponsesOptions extends RequestOptions {
  /** Who receives the request, as `fromOpenAIResponses` was told. Default: who gave the last answer of this API. Another one gets no reasoning. */
  readonly provider?: string
  /**
   * Whether the API stores the answers, as your requests say with their own `store`. True: reasoning without its encrypted content is sent, which the API
   * finds in its store for 30 days. Default false: it is left out, with a diagnostic.
   */
  readonly store?: boolean
  /** Of references that end, such as stored reasoning, those are sent that are valid at this time: milliseconds since 1970. Default: now. */
  readonly now?: number
}

const OPTIONS: Checks<OpenAIResponsesOptions> = { ...REQUEST, provider: TEXT, store: BOOLEAN, now: TIME }

/** The whole conversation, for requests without `previous_response_id`. */
export function toOpenAIResponses(context: Context, o: OpenAIResponsesOptions = {}): ProviderRequest<ResponsesRequest> {
  checkContext("toOpenAIResponses", context)
  checkCall("toOpenAIResponses", o, OPTIONS)
  const { prompt, messages, lost } = prepare(withHostedCalls(context), o, RULES)
  const to: Receiver = {
    provider: o.provider ?? lastProvider(messages),
    isStored: o.store ?? false,
    now: o.now ?? Date.now(),
    ids: new Set(),
    callIds: new Set(),
    lost,
  }
  const input: Fields[] = []
  /** The items of the calls of the last answer, by their ids. */
  let calls: ReadonlyMap<string, Fields> = new Map()
  for (const [i, item] of messages.entries()) {
    const { message } = item
    if (message.role === "assistant") {
      const items = answerItems(item as ContextMessage<AssistantMessage>, resultsBehind(messages, i), to)
      calls = new Map(items.flatMap(({ item: call, block }) => (block.type === "toolCall" ? [[block.id, call]] : [])))
      addAll(
        input,
        items.map((one) => one.item),
      )
    } else if (message.role === "toolResult") {
      const call = calls.get(message.toolCallId)
      if (call !== undefined) addAll(input, outputItems(item, message, call, lost))
    } else addAll(input, otherItems(item, lost))
  }
  // No receiver takes a request without items.
  if (input.length === 0) input.push({ type: "message", role: "user", content: BEGINNING })
  const request = {
    input: input as unknown as ResponsesItem[],
    ...(prompt === undefined ? {} : { instructions: prompt }),
  }
  return { request, diagnostics: lost.diagnostics() }
}

function lastProvider(messages: readonly ContextMessage<ModelMessage>[]): string | undefined {
  const last = messages.findLast(({ message }) => message.content.some((block) => isNative(block, "openai-responses")))
  return (last?.message as AssistantMessage | undefined)?.provider ?? "openai"
}

/** The results of an answer's calls, which follow it. */
function resultsBehind(
  messages: readonly ContextMessage<ModelMessage>[],
  at: number,
): ReadonlyMap<string, ToolResultMessage> {
  const found = new Map<string, ToolResultMessage>()
  for (let i = at + 1, message = messages[i]?.message; message?.role === "toolResult"; message = messages[++i]?.message)
    found.set(message.toolCallId, message)
  return found
}

function outputItems(
  { entryId }: ContextMessage<ModelMessage>,
  message: ToolResultMessage,
  call: Fields,
  lost: Lost,
): readonly Fields[] {
  if (HOSTED_CALLS[String(call["type"])] !== undefined) {
    const output = hostedOutput(call, message)
    return output === undefined ? [] : [output]
  }
  const items = mapped({ ...message, content: message.content.map(plain) }, entryId, lost)
  const type = call["type"] === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output"
  return items.map((item) => ({ ...item, type, call_id: call["call_id"] }))
}

function otherItems({ message, entryId }: ContextMessage<ModelMessage>, lost: Lost): readonly Fields[] {
  const items = mapped({ ...message, content: message.content.map(plain) }, entryId, lost)
  return items.filter(({ content }) => (content as string | unknown[]).length > 0)
}

function mapped(message: ModelMessage, entryId: string, lost: Lost): readonly Fields[] {
  return lost.mapped(entryId, (losses) => itemsOf({ id: entryId, timestamp: "", message }, losses))
}
