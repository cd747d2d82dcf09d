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
import { addAll } from "../shared/add-all.ts"
import { BOOLEAN, checkCall, checkContext, type Checks, REQUEST, TEXT } from "../shared/check.ts"
import type { Lost } from "../shared/lost.ts"
import { nativeOf } from "../shared/native.ts"
import { Turns } from "../shared/order.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { PART } from "./answer.ts"
import { FOREIGN_SIGNATURE, HOSTED, IN_RESPONSES, RESPONSES, RULES, SIGNATURE, versionOf } from "./rules.ts"
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

const OPTIONS: Checks<GeminiOptions> = {
  ...REQUEST,
  ids: BOOLEAN,
  model: TEXT,
  foreignSignature: TEXT,
  imagesInResults: BOOLEAN,
}

export function toGemini(context: Context, o: GeminiOptions = {}): ProviderRequest<GeminiRequest> {
  checkContext("toGemini", context)
  checkCall("toGemini", o, OPTIONS)
  const prepared = prepare(context, o, RULES)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const turns = new Turns<GeminiContent>(RULES, lost, {
    // The responses of all calls of a content are one content.
    roleOf: ({ role, parts }) => (parts[0]?.functionResponse === undefined ? role : RESPONSES),
    user: (text) => ({ role: "user", parts: [{ text }] }),
    join: (last, next) => addAll(last.parts, next.parts),
  })
  const sender = new Sender(lost, o)
  const add = (found: readonly Fields[], item: Item) => {
    const parts = [...found] as unknown as GeminiPart[]
    if (parts.length === 0) turns.leaveOut(item)
    else turns.add({ role: item.message.role === "assistant" ? "model" : "user", parts }, item)
  }
  /** Images of the results that were just written. */
  let behind: { readonly item: Item; readonly parts: readonly Fields[] }[] = []
  const flush = () => {
    for (const { item, parts } of behind) add(parts, item)
    behind = []
  }
  for (const item of messages) {
    if (item.message.role !== "toolResult") {
      flush()
      add(sender.partsOf(item), item)
    } else {
      const [response, ...images] = sender.partsOf(item)
      add(response === undefined ? [] : [response], item)
      if (images.length > 0) behind.push({ item, parts: images })
    }
  }
  flush()
  const prompt = systemText(system)
  const config = prompt === undefined ? {} : { systemInstruction: prompt }
  return { request: { contents: [...turns.end()], config }, diagnostics: lost.diagnostics() }
}

/** An empty text is sent if it has a signature. */
function hasData(part: Fields): boolean {
  const { text, thoughtSignature: signature } = part
  const isText = typeof text === "string" && (text !== "" || signature !== undefined)
  return isText || Object.keys(part).some((key) => key !== "text" && !BESIDE_DATA.has(key))
}

/** Fields of a part that are none of its data: "required oneof field 'data' must have one initialized field". */
const BESIDE_DATA: ReadonlySet<string> = new Set([
  "thought",
  "thoughtSignature",
  "partMetadata",
  "videoMetadata",
  "mediaResolution",
])

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

  partsOf({ message, entryId }: Item): readonly Fields[] {
    this.#lost.add("attachments", entryId, message.attachments?.length ?? 0)
    if (message.role === "toolResult") return this.#resultParts(message, entryId)
    if (message.role === "user") return this.#blockParts(message.content, entryId)
    const isGoogle = message.provider === "google"
    let unsigned = this.#options.foreignSignature
    const parts = this.#whole(message, entryId).flatMap((block): readonly Fields[] => {
      if (block.type === "thinking")
        return thoughtOf(block, isGoogle, entryId, this.#lost).map((part) => this.#signed(part, entryId))
      const native = this.#signed(nativeOf(block, "gemini"), entryId)
      if (block.type !== "toolCall")
        return this.#blockParts([block], entryId).map((part) => ({ ...this.#signed(part, entryId), ...native }))
      this.#calls.set(block.id, block)
      const signature = unsigned === undefined ? {} : { thoughtSignature: unsigned }
      unsigned = undefined
      return [{ functionCall: callOf(block, this.#options.ids), ...signature, ...withoutCall(native) }]
    })
    return this.#withThoughts(parts.filter(hasData), entryId)
  }

  /** Without a signature that is not of Google, as gateways to several providers write them. */
  #signed(fields: Fields, entryId: string): Fields {
    const { thoughtSignature: signature, ...rest } = fields
    if (signature === undefined || (signature !== "" && SIGNATURE.test(String(signature)))) return fields
    this.#lost.add("signatures", entryId, 1, "Gemini takes signatures in base64 only")
    return rest
  }

  /** Without halves of hosted calls, as an answer that was cut off has them. */
  #whole({ content }: AssistantMessage, entryId: string): readonly ContentBlock[] {
    if (!content.some(({ type }) => type === PART)) return content
    const [calls, results] = [new Set(idsOf(content, HOSTED.call)), new Set(idsOf(content, HOSTED.result))]
    const isWhole = (block: ContentBlock) =>
      idsOf([block], HOSTED.call).every((id) => results.has(id)) &&
      idsOf([block], HOSTED.result).every((id) => calls.has(id))
    const whole = content.filter(isWhole)
    this.#lost.add("hosted_calls", entryId, content.length - whole.length)
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
    const parts = this.#blockParts(message.content, entryId)
    const texts = parts.flatMap(({ text }) => (typeof text === "string" ? [{ type: "text" as const, text }] : []))
    const media = parts.filter(({ inlineData }) => inlineData !== undefined)
    const isInside = ({ inlineData }: Fields): boolean =>
      imagesInResults && IN_RESPONSES.has(String(fieldsOf(inlineData)["mimeType"]))
    const inside = media.filter(isInside)
    const behind = media.filter((part) => !isInside(part))
    this.#lost.add("blocks", entryId, parts.length - texts.length - media.length)
    const { functionResponse } = this.#lost.mapped(entryId, (losses) =>
      functionResponseOf({ ...message, content: texts }, name, losses),
    )
    const { id, ...rest } = fieldsOf(functionResponse)
    const fields = inside.length === 0 ? rest : { ...rest, parts: inside }
    const response = { functionResponse: ids && call?.["generatedId"] !== true ? { id, ...fields } : fields }
    if (behind.length === 0) return [response]
    const rule =
      "Gemini takes none in results before version 3, which the option `model` tells, and since then PNG, JPEG and WebP"
    this.#lost.add("images_moved", entryId, behind.length, rule)
    return [response, { text: `Images of the result of ${name}:` }, ...behind]
  }

  #blockParts(content: readonly ContentBlock[], entryId: string): readonly Fields[] {
    return this.#lost.mapped(entryId, (losses) => partsOfBlocks(content, losses)).filter(hasData)
  }
}

/** The ids of calls of Google's own tools, or of their responses. */
function idsOf(content: readonly ContentBlock[], key: string): readonly string[] {
  return content.flatMap((block) => {
    const half = block.type === PART ? fieldsOf((block as Fields)["part"])[key] : undefined
    return half === undefined ? [] : [String(fieldsOf(half)["id"])]
  })
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
  const signed = typeof signature === "string" && signature !== "" ? { thoughtSignature: signature } : {}
  return [{ text, thought: true, ...signed, ...nativeOf(block, "gemini") }].filter(hasData)
}
