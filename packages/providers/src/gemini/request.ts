/** A context as `contents` and the system prompt of the Gemini API. */
import type {
  AssistantMessage,
  ContentBlock,
  ContextMessage,
  ModelMessage,
  SystemMessage,
  ToolCallBlock,
  ToolResultMessage,
} from "@sessions/core"
import { functionResponseOf, partsOfBlocks } from "@sessions/formats/messages/gemini"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import { type Half, pairedIds } from "../shared/halves.ts"
import type { Lost } from "../shared/lost.ts"
import { nativeOf } from "../shared/native.ts"
import { Turns } from "../shared/order.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { PART } from "./answer.ts"
import { FOREIGN_SIGNATURE, HOSTED, IN_RESPONSES, RULES, versionOf } from "./rules.ts"
import type { GeminiContent, GeminiPart, GeminiRequest } from "./types.ts"

export interface GeminiOptions extends RequestOptions {
  /** False: calls and responses have no ids, for versions of the API that refuse them. Their order pairs them. Default true. */
  readonly ids?: boolean
  /**
   * The model, such as `"gemini-3-pro-preview"`. From Gemini 3 on calls need signatures, and responses may have images: the defaults of the next two
   * options follow from it. Without it the request is one that Gemini 2.5 takes.
   */
  readonly model?: string
  /**
   * Sent as the signature of the first call of each answer in which that call has none: another provider made it, or an older model of Google's. Gemini 3
   * refuses it then. Default: `"skip_thought_signature_validator"`, which Google documents for this, from Gemini 3 on; none before.
   */
  readonly foreignSignature?: string
  /** Whether images of results are in the `parts` of the response; otherwise they follow the responses. Default: from Gemini 3 on. */
  readonly imagesInResults?: boolean
}

export function toGemini(context: Context, o: GeminiOptions = {}): ProviderRequest<GeminiRequest> {
  const prepared = prepare(context, o, RULES)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const turns = new Turns<GeminiContent>(RULES, lost, {
    roleOf: ({ role }) => role,
    user: (text) => ({ role: "user", parts: [{ text }] }),
    // The responses of all calls of a content are one content. Images and what the user says next follow them.
    join: (last, next) => {
      const parts = [...last.parts, ...next.parts]
      last.parts = next.parts.some(isResponse)
        ? [...parts.filter(isResponse), ...parts.filter((part) => !isResponse(part))]
        : parts
    },
  })
  const sender = new Sender(lost, o)
  for (const item of messages) {
    const parts = sender.partsOf(item) as unknown as GeminiPart[]
    const role = item.message.role === "assistant" ? "model" : "user"
    if (parts.length === 0) turns.leaveOut(item)
    else turns.add({ role, parts }, item)
  }
  const prompt = systemText(system)
  const config = prompt === undefined ? {} : { systemInstruction: prompt }
  return { request: { contents: [...turns.end()], config }, diagnostics: lost.diagnostics() }
}
function isResponse({ functionResponse }: GeminiPart): boolean {
  return functionResponse !== undefined
}

type Item = ContextMessage<Exclude<ModelMessage, SystemMessage>>

/** Writes the parts of messages, in their order. */
class Sender {
  readonly #lost: Lost
  readonly #options: GeminiOptions
  /** The last call with each id. */
  readonly #calls = new Map<string, ToolCallBlock>()

  constructor(lost: Lost, o: GeminiOptions) {
    const isNew = versionOf(o.model) >= 3
    this.#lost = lost
    this.#options = { imagesInResults: isNew, ...(isNew ? { foreignSignature: FOREIGN_SIGNATURE } : {}), ...o }
  }

  partsOf(item: Item): readonly Fields[] {
    const { message, entryId } = item
    this.#lost.add("attachments", entryId, message.attachments?.length ?? 0)
    if (message.role === "toolResult") return this.#resultParts(message, entryId)
    if (message.role === "user") return this.#blockParts(message.content, entryId)
    const isGoogle = message.provider === "google"
    let unsigned = this.#options.foreignSignature
    const parts = this.#whole({ ...item, message }).flatMap((block): readonly Fields[] => {
      if (block.type === "thinking") return thoughtOf(block, isGoogle, entryId, this.#lost)
      const native = nativeOf(block, "gemini")
      if (block.type !== "toolCall") return this.#blockParts([block], entryId).map((part) => ({ ...part, ...native }))
      this.#calls.set(block.id, block)
      const signature = unsigned === undefined ? {} : { thoughtSignature: unsigned }
      unsigned = undefined
      return [{ functionCall: callOf(block, this.#options.ids), ...signature, ...withoutCall(native) }]
    })
    return this.#withThoughts(parts, entryId)
  }

  /** Without halves of hosted calls, as an answer that was cut off has them. */
  #whole(item: ContextMessage<AssistantMessage>): readonly ContentBlock[] {
    const { content } = item.message
    const paired = pairedIds([item], halfOf)
    const whole = content.filter((block) => {
      const half = halfOf(block)
      return half === undefined || paired.has(half.id)
    })
    this.#lost.add("hosted_calls", item.entryId, content.length - whole.length)
    return whole
  }

  /** Thoughts without a signature that led to nothing, as in an answer that was cut off, are no content. */
  #withThoughts(parts: readonly Fields[], entryId: string): readonly Fields[] {
    if (!parts.every(({ thought, thoughtSignature }) => thought === true && thoughtSignature === undefined))
      return parts
    this.#lost.add("thinking", entryId, parts.length)
    return []
  }

  /** The response, and behind it the images that it may not have. */
  #resultParts(message: ToolResultMessage, entryId: string): readonly Fields[] {
    const { ids = true, imagesInResults = false } = this.#options
    const call = this.#calls.get(message.toolCallId)
    const name = message.toolName ?? "unknown"
    const images = message.content.filter(
      (block) => block.type === "image" && !(imagesInResults && IN_RESPONSES.has(block.mimeType)),
    )
    const content = message.content.filter((block) => !images.includes(block))
    const { functionResponse } = this.#lost.mapped(entryId, (losses) =>
      functionResponseOf({ ...message, content }, name, losses),
    )
    const { id, ...rest } = fieldsOf(functionResponse)
    const response = { functionResponse: ids && call?.["generatedId"] !== true ? { id, ...rest } : rest }
    if (images.length === 0) return [response]
    const rule =
      "Gemini takes none in results before version 3, which the option `model` tells, and since then PNG, JPEG and WebP"
    this.#lost.add("images_moved", entryId, images.length, rule)
    return [response, { text: `Images of the result of ${name}:` }, ...this.#blockParts(images, entryId)]
  }

  #blockParts(content: readonly ContentBlock[], entryId: string): readonly Fields[] {
    const parts = this.#lost.mapped(entryId, (losses) => partsOfBlocks(content, losses))
    return parts.filter(
      (part) => part["text"] !== "" || Object.keys(part).some((key) => key !== "text" && key !== "thought"),
    )
  }
}

/** A part of a call to Google's own tools, or of its response. */
function halfOf(block: ContentBlock): Half | undefined {
  if (block.type !== PART) return undefined
  const part = fieldsOf((block as Fields)["part"])
  const [call, result] = [part[HOSTED.call], part[HOSTED.result]]
  if (call === undefined && result === undefined) return undefined
  return { of: call === undefined ? "result" : "call", id: String(fieldsOf(call ?? result)["id"]) }
}

function callOf(block: ToolCallBlock, ids = true): Fields {
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
