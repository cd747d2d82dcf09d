/** A context as `contents` and the system prompt of the Gemini API. */
import type { ContentBlock, ContextMessage, ModelMessage, SystemMessage, ToolCallBlock } from "@sessions/core"
import { functionResponseOf, partsOfBlocks } from "@sessions/formats/messages/gemini"
import { type Fields, fieldsOf, isObject } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { nativeOf } from "../shared/native.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { RULES } from "./rules.ts"
import type { GeminiContent, GeminiPart, GeminiRequest } from "./types.ts"

export interface GeminiOptions extends RequestOptions {
  /** False: calls and responses have no ids, for versions of the API that refuse them. Their order pairs them. Default true. */
  readonly ids?: boolean
  /**
   * Sent as the signature of the first call of each answer that another provider made. Gemini 3 refuses calls without one; Google documents
   * `"skip_thought_signature_validator"` for this. Default: none.
   */
  readonly foreignSignature?: string
}

export function toGemini(context: Context, o: GeminiOptions = {}): ProviderRequest<GeminiRequest> {
  const prepared = prepare(context, o, RULES)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const contents: GeminiContent[] = []
  const calls = new Map<string, ToolCallBlock>()
  for (const item of messages) {
    const parts = partsOf(item, calls, lost, o) as unknown as GeminiPart[]
    if (parts.length === 0) continue
    const role = item.message.role === "assistant" ? "model" : "user"
    const last = contents.at(-1)
    // The responses of all calls of a content are one content, and what the user says next follows them.
    if (last?.role === "user" && role === "user") last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  const prompt = systemText(system)
  const config = prompt === undefined ? {} : { systemInstruction: prompt }
  return { request: { contents, config }, diagnostics: lost.diagnostics() }
}

function partsOf(
  { message, entryId }: ContextMessage<Exclude<ModelMessage, SystemMessage>>,
  calls: Map<string, ToolCallBlock>,
  lost: Lost,
  { ids = true, foreignSignature }: GeminiOptions,
): readonly Fields[] {
  lost.add("attachments", entryId, message.attachments?.length ?? 0)
  if (message.role === "toolResult") {
    const call = calls.get(message.toolCallId)
    const name = message.toolName ?? call?.name ?? "unknown"
    const { functionResponse } = lost.mapped(entryId, (losses) => functionResponseOf(message, name, losses))
    const { id, ...rest } = fieldsOf(functionResponse)
    return [{ functionResponse: ids && call?.["generatedId"] !== true ? { id, ...rest } : rest }]
  }
  if (message.role === "user") return lost.mapped(entryId, (losses) => partsOfBlocks(message.content, losses))
  let unsigned = message.provider === "google" ? undefined : foreignSignature
  return message.content.flatMap((block): readonly Fields[] => {
    if (block.type === "thinking") return thoughtOf(block, message.provider === "google", entryId, lost)
    if (block.type !== "toolCall") return otherParts(block, entryId, lost)
    calls.set(block.id, block)
    const signature = unsigned === undefined ? {} : { thoughtSignature: unsigned }
    unsigned = undefined
    return [{ functionCall: callOf(block, ids), ...signature, ...withoutCall(nativeOf(block, "gemini")) }]
  })
}

function callOf(block: ToolCallBlock, ids: boolean): Fields {
  const { id, name, arguments: args } = block
  const more = fieldsOf(nativeOf(block, "gemini")["functionCall"])
  const { id: _, ...rest }: Fields = { ...more, name, args }
  return ids && block["generatedId"] !== true ? { id, ...rest } : rest
}

function withoutCall(fields: Fields): Fields {
  const { functionCall: _, ...rest } = fields
  return rest
}

function thoughtOf(block: ContentBlock, isGoogle: boolean, entryId: string, lost: Lost): readonly Fields[] {
  if (!isGoogle) {
    lost.add("thinking", entryId)
    return []
  }
  const { thinking: text, signature } = block as Fields
  const signed = typeof signature === "string" ? { thoughtSignature: signature } : {}
  return [{ text, thought: true, ...signed, ...nativeOf(block, "gemini") }]
}

function otherParts(block: ContentBlock, entryId: string, lost: Lost): readonly Fields[] {
  const parts = lost.mapped(entryId, (losses) => partsOfBlocks([block], losses))
  return parts.map((part) => (isObject(part) ? { ...part, ...nativeOf(block, "gemini") } : part))
}
