/** A context as `instructions` and `messages` of the AI SDK. */
import type { ContentBlock, ContextMessage, ModelMessage, SystemMessage } from "@sessions/core"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { isEqual, isNative, nativeOf } from "../shared/native.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { RULES } from "./rules.ts"
import { contentOfOutput, optionsOfThinking, outputOf, PART } from "./parts.ts"
import type { AiSdkMessage, AiSdkRequest } from "./types.ts"

const API = "ai-sdk"

export function toAiSdk(context: Context, o: RequestOptions = {}): ProviderRequest<AiSdkRequest> {
  const prepared = prepare(context, o, RULES)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const names = new Map<string, string>()
  const list: { role: string; content: Fields[] }[] = []
  for (const item of messages) {
    const content = partsOf(item, names, lost)
    if (content.length === 0) continue
    const role = item.message.role === "toolResult" ? "tool" : item.message.role
    const last = list.at(-1)
    // The results of all calls of a message are one message.
    if (role === "tool" && last?.role === "tool") last.content.push(...content)
    else list.push({ role, content: [...content] })
  }
  const instructions = systemText(system)
  const request = {
    messages: list as unknown as AiSdkMessage[],
    ...(instructions === undefined ? {} : { instructions }),
  }
  return { request, diagnostics: lost.diagnostics() }
}

function partsOf(
  { message, entryId }: ContextMessage<Exclude<ModelMessage, SystemMessage>>,
  names: Map<string, string>,
  lost: Lost,
): readonly Fields[] {
  lost.add("attachments", entryId, message.attachments?.length ?? 0)
  if (message.role === "toolResult") {
    const { toolCallId, toolName = names.get(toolCallId) ?? "unknown" } = message
    const { api, fields } = fieldsOf(message["native"])
    const native = api === API ? fieldsOf(fieldsOf(fields)["output"]) : {}
    // Pruning and edits change the content.
    const isKept = api === API && isEqual(contentOfOutput(native).content, message.content)
    if (!isKept) lost.add("blocks", entryId, message.content.filter(({ type }) => !SENT_OUTPUTS.has(type)).length)
    return [{ type: "tool-result", toolCallId, toolName, output: isKept ? native : outputOf(message) }]
  }
  return message.content.flatMap((block): readonly Fields[] => {
    if (block.type === "toolCall") names.set(block.id, block.name)
    const part = partOf(block, message, entryId, lost)
    return part === undefined ? [] : [{ ...part, ...nativeOf(block, API) }]
  })
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
