/** A context as `instructions` and `messages` of the AI SDK. */
import type { AssistantMessage, ContentBlock, ModelMessage, ToolResultMessage } from "@sessions/core"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import { type Half, Halves } from "../shared/halves.ts"
import type { Lost } from "../shared/lost.ts"
import { isEqual, isNative, nativeOf } from "../shared/native.ts"
import { Turns } from "../shared/order.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { rulesOf } from "./rules.ts"
import { contentOfOutput, optionsOfThinking, outputOf, PART } from "./parts.ts"
import type { AiSdkMessage, AiSdkRequest } from "./types.ts"

const API = "ai-sdk"

export interface AiSdkOptions extends RequestOptions {
  /** The model: ids of calls and images are those that its provider takes. Default: ids that every provider takes, images of any size. */
  readonly model?: { readonly provider: string }
}

interface Written {
  readonly role: string
  readonly content: Fields[]
}

export function toAiSdk(context: Context, o: AiSdkOptions = {}): ProviderRequest<AiSdkRequest> {
  const rules = rulesOf(o.model?.provider)
  const prepared = prepare(context, o, rules)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const turns = new Turns<Written>(rules, lost, {
    roleOf: ({ role }) => role,
    user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
    // The results of all calls of a message are one message.
    join: ({ content }, next) => content.push(...next.content),
  })
  const halves = new Halves(messages, { halfOf, goesOn, isAwaited })
  for (const item of messages) {
    const { message, entryId } = item
    lost.add("attachments", entryId, message.attachments?.length ?? 0)
    const content =
      message.role === "toolResult" ? [resultPart(message, entryId, lost)] : partsOf(message, entryId, halves, lost)
    const role = message.role === "toolResult" ? "tool" : message.role
    if (content.length === 0) turns.leaveOut(item)
    else turns.add({ role, content: [...content] }, item, halves.isOpen(message))
  }
  const instructions = systemText(system)
  const request = {
    messages: turns.end() as unknown as AiSdkMessage[],
    ...(instructions === undefined ? {} : { instructions }),
  }
  return { request, diagnostics: lost.diagnostics() }
}

/** A part of a call that the provider runs itself, or of its result. */
function halfOf(block: ContentBlock): Half | undefined {
  const { type, toolCallId } = block.type === PART ? fieldsOf((block as Fields)["part"]) : {}
  if (type !== "tool-call" && type !== "tool-result") return undefined
  return { of: type === "tool-call" ? "call" : "result", id: String(toolCallId) }
}

/** After such an answer the SDK calls the model again, which may give the results then: at once, or with those of the program's tools. */
const goesOn = ({ stopReason }: AssistantMessage) => stopReason === "tool-calls"
const isAwaited = ({ content }: AssistantMessage) => content.some(({ type }) => type === "toolCall")

function resultPart(message: ToolResultMessage, entryId: string, lost: Lost): Fields {
  const { toolCallId, toolName } = message
  const { api, fields } = fieldsOf(message["native"])
  const native = api === API ? fieldsOf(fieldsOf(fields)["output"]) : {}
  // Pruning and edits change the content.
  const isKept = api === API && isEqual(contentOfOutput(native).content, message.content)
  if (!isKept) lost.add("blocks", entryId, message.content.filter(({ type }) => !SENT_OUTPUTS.has(type)).length)
  return { type: "tool-result", toolCallId, toolName, output: isKept ? native : outputOf(message) }
}

/** Thinking comes before what it led to: of an answer that was cut off it is all, and the providers refuse it then. */
function partsOf(message: ModelMessage, entryId: string, halves: Halves, lost: Lost): readonly Fields[] {
  const content = message.content.filter((block) => halves.isSent(block))
  lost.add("hosted_calls", entryId, message.content.length - content.length)
  const parts = content.flatMap((block): readonly Fields[] => {
    const part = partOf(block, message, entryId, lost)
    return part === undefined ? [] : [{ ...part, ...nativeOf(block, API) }]
  })
  const end = parts.findLastIndex(({ type }) => type !== "reasoning") + 1
  lost.add("thinking", entryId, parts.length - end)
  return parts.slice(0, end)
}

const SENT_OUTPUTS: ReadonlySet<string> = new Set(["text", "image", PART])

function partOf(block: ContentBlock, message: ModelMessage, entryId: string, lost: Lost): Fields | undefined {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
      return { type: "file", data: block.data, mediaType: block.mimeType }
    case "file":
      lost.add("files", entryId)
      return { type: "text", text: `[File: ${block.path}]` }
    case "toolCall":
      return { type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.arguments }
    case "thinking": {
      const options = message.role === "assistant" && !isNative(block, API) ? optionsOfThinking(block, message) : {}
      const isLost = block.signature !== undefined && !isNative(block, API) && options["providerOptions"] === undefined
      if (isLost) lost.add("signatures", entryId)
      return { type: "reasoning", text: block.thinking, ...options }
    }
    case PART:
      return fieldsOf((block as Fields)["part"])
    default:
      lost.add("blocks", entryId)
      return undefined
  }
}
