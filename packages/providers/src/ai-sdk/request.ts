/** A context as `instructions` and `messages` of the AI SDK. */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage, ToolResultMessage } from "@sessions/core"
import { type Fields, fieldsOf, isObject } from "@sessions/formats/messages/values"
import { SIGNATURE } from "../gemini/rules.ts"
import { addAll } from "../shared/add-all.ts"
import { isCutOff } from "../shared/answer.ts"
import { BOOLEAN, type Check, checkCall, checkContext, type Checks, kind, REQUEST, TIME } from "../shared/check.ts"
import { type Half, Halves } from "../shared/halves.ts"
import type { Lost } from "../shared/lost.ts"
import { isEqual, isNative, nativeOf } from "../shared/native.ts"
import { Turns } from "../shared/order.ts"
import { isItemId } from "../openai-responses/fields.ts"
import { referenceProblem } from "../openai-responses/rules.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import { imagesBehind, withinLimit } from "../shared/results.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { type AiSdkRules, rulesOf } from "./rules.ts"
import { contentOfOutput, optionsOfThinking, outputOf, PART } from "./parts.ts"
import type { AiSdkMessage, AiSdkRequest } from "./types.ts"

const API = "ai-sdk"

type Item = ContextMessage<ModelMessage>

export interface AiSdkOptions extends RequestOptions {
  /**
   * The model, or its names: the request is one that its provider takes, after what the SDK makes of it. Default: ids that every provider takes, images
   * of any size, and parts of all providers.
   */
  readonly model?: { readonly provider: string; readonly modelId?: string }
  /**
   * The option `store` of your requests to OpenAI's Responses API. True, the SDK's default: reasoning that another client has got is left out, since the SDK
   * would refer to it in the API's store, and so are items that the store has no more, or never had. False: it is sent.
   */
  readonly store?: boolean
  /** Items of OpenAI's store are referred to for 30 days, at this time: milliseconds since 1970. Default: now. */
  readonly now?: number
}

export function isModel(value: unknown): boolean {
  const { provider, modelId } = fieldsOf(value)
  return isObject(value) && typeof provider === "string" && (modelId === undefined || typeof modelId === "string")
}

export const MODEL: Check = kind("a model of the SDK, or its names `{ provider, modelId }`", isModel)

const OPTIONS: Checks<AiSdkOptions> = { ...REQUEST, model: MODEL, store: BOOLEAN, now: TIME }

interface Writer {
  readonly rules: AiSdkRules
  readonly halves: Halves
  readonly lost: Lost
  readonly isStored: boolean
  readonly now: number
  /** The message that has this item of the Responses API, by its id. */
  readonly itemIds: Map<unknown, ModelMessage>
}

interface Written {
  readonly role: string
  readonly content: Fields[]
}

export function toAiSdk(context: Context, o: AiSdkOptions = {}): ProviderRequest<AiSdkRequest> {
  checkContext("toAiSdk", context)
  checkCall("toAiSdk", o, OPTIONS)
  const rules = rulesOf(o.model?.provider, o.model?.modelId)
  const prepared = prepare(context, o, rules)
  const { lost } = prepared
  const { system, messages: whole } = systemApart(prepared)
  const taken = withinLimit(whole, rules, lost).map((item) => withoutForeign(item, rules, lost))
  const messages = imagesBehind(taken, rules.resultImages, lost)
  const turns = new Turns<Written>(rules, lost, {
    roleOf: ({ role }) => role,
    user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
    answer: (text) => ({ role: "assistant", content: [{ type: "text", text }] }),
    // The results of all calls of a message are one message.
    join: ({ content }, next) => addAll(content, next.content),
  })
  const halves = new Halves(messages, { halfOf, goesOn, isAwaited: (message) => isAwaited(message, rules) })
  const writer: Writer = {
    rules,
    halves,
    lost,
    isStored: o.store ?? true,
    now: o.now ?? Date.now(),
    itemIds: new Map(),
  }
  for (const item of messages) {
    const { message, entryId } = item
    lost.add("attachments", entryId, message.attachments?.length ?? 0)
    const content = message.role === "toolResult" ? [resultPart(message, entryId, writer)] : partsOf(item, writer)
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

/** The stop reason of an answer that the provider goes on with though no tool of the program has run: it has paused, or the user has decided. */
export const GOES_ON = "ai-sdk:goes_on"

/** After such an answer the SDK calls the model again, which may give the results then: at once, or with those of the program's tools. */
const goesOn = ({ stopReason }: AssistantMessage) => stopReason === "tool-calls" || stopReason === GOES_ON
function isAwaited({ content, stopReason }: AssistantMessage, { pauses, provider = "" }: AiSdkRules): boolean {
  const isAsked = (block: ContentBlock) => {
    const options = fieldsOf(fieldsOf(nativeOf(block, API)["providerOptions"])[provider])
    return block.type === "toolCall" && (pauses || options["caller"] !== undefined)
  }
  return stopReason === GOES_ON || content.some(isAsked)
}

function resultPart(message: ToolResultMessage, entryId: string, { rules, lost }: Writer): Fields {
  const { toolCallId, toolName } = message
  const { api, fields } = fieldsOf(message["native"])
  const { output: stored, providerOptions } = api === API ? fieldsOf(fields) : {}
  const native = fieldsOf(stored)
  const isText = rules.resultImages.length === 0
  // Pruning and edits change the content.
  const isKept =
    api === API &&
    !(isText && native["type"] === "content") &&
    isEqual(contentOfOutput(native).content, message.content)
  const isSent = ({ type }: ContentBlock) => type === "text" || (!isText && SENT_OUTPUTS.has(type))
  if (!isKept) lost.add("blocks", entryId, message.content.filter((block) => !isSent(block)).length)
  const output = isKept ? native : outputOf(message, isText || undefined)
  const options = providerOptions === undefined ? {} : { providerOptions }
  return { type: "tool-result", toolCallId, toolName, output, ...options }
}

/** An answer without what its receiver has no place for, and without parts that another provider made. */
function withoutForeign(item: Item, rules: AiSdkRules, lost: Lost): Item {
  const { message, entryId } = item
  if (message.role !== "assistant") return item
  const isOwn = rules.otherParts && (rules.provider === "" || message.provider === rules.provider)
  const isKept = (block: ContentBlock): boolean =>
    block.type === PART ? isOwn && isOwnPart(block, rules) : block.type !== "image" || rules.answerImages
  const content = message.content.filter(isKept)
  if (content.length === message.content.length) return item
  const left = message.content.filter((block) => !isKept(block))
  const images = left.filter(({ type }) => type === "image").length
  lost.add("images", entryId, images, `${rules.receiver} takes none in answers`)
  lost.add("blocks", entryId, left.length - images, `${rules.receiver} takes parts that it has made itself`)
  return { ...item, message: { ...message, content } }
}

/** `AssistantContent` of `ai` 7: the SDK fails at others. */
const ANSWER_PARTS: ReadonlySet<unknown> = new Set([
  "custom",
  "file",
  "reasoning-file",
  "tool-approval-request",
  "tool-call",
  "tool-result",
])

function isOwnPart(block: ContentBlock, { provider, hosted }: AiSdkRules): boolean {
  const { type, toolCallId, providerOptions } = fieldsOf((block as Fields)["part"])
  const options = fieldsOf(providerOptions)
  const isOthers = provider !== "" && Object.keys(options).length > 0 && !Object.hasOwn(options, provider ?? "")
  if (!ANSWER_PARTS.has(type)) return false
  if (isOthers || halfOf(block) === undefined) return !isOthers
  const { itemId } = fieldsOf(options[provider ?? ""])
  return hosted.test(`${String(type)} ${String(itemId ?? toolCallId)}`)
}

/** Thinking comes before what it led to: of an answer that was cut off it is all, and the providers refuse it then. */
function partsOf(item: Item, writer: Writer): readonly Fields[] {
  const { message, entryId } = item
  const { halves, lost, rules } = writer
  const content = message.content.filter((block) => halves.isSent(block))
  lost.add("hosted_calls", entryId, message.content.length - content.length)
  const parts = content.flatMap((block): readonly Fields[] => {
    const part = partOf(block, item, writer)
    // Input that is no object, as of a call that was not valid: the block has it as one.
    const { input: _, ...native } = nativeOf(block, API)
    const sent = part && withItemIds(withSignature({ ...part, ...native }, entryId, writer), item, writer)
    return sent === undefined || isEmptyText(sent, rules) ? [] : [sent]
  })
  const end = parts.findLastIndex(({ type }) => type !== "reasoning" && type !== "tool-approval-request")
  const isThought = ({ type }: Fields): boolean => type === "reasoning"
  const shown = end < 0 ? [] : parts.filter((part, i) => !isThought(part) || i < end)
  lost.add("thinking", entryId, parts.filter(isThought).length - shown.filter(isThought).length)
  return withReasoning(shown, rules)
}

function isEmptyText({ type, text, providerOptions }: Fields, { emptyTexts }: AiSdkRules): boolean {
  return type === "text" && text === "" && !(emptyTexts && providerOptions !== undefined)
}

function withReasoning(parts: readonly Fields[], { reasoning }: AiSdkRules): readonly Fields[] {
  if (reasoning === undefined || !parts.some(({ type }) => type === "tool-call")) return parts
  const isThought = parts.some(({ type, text }) => type === "reasoning" && text !== "")
  return isThought ? parts : [{ type: "reasoning", text: reasoning }, ...parts]
}

/**
 * Without ids of items that the Responses API does not take or find, or that a message before has: the SDK sends what the item says instead. Items that
 * need their ids are left out: "Missing required parameter: 'input[1].id'", https://github.com/openai/codex/issues/6934
 */
function withItemIds(part: Fields, { message, entryId }: Item, writer: Writer): Fields | undefined {
  if (!writer.rules.itemIds) return part
  const { type, toolCallId, providerExecuted } = part
  const options = Object.entries(fieldsOf(part["providerOptions"]))
  const isHosted = type === "tool-result" || providerExecuted === true
  const named = options.flatMap(([name, value]) =>
    "itemId" in fieldsOf(value) ? [{ name, id: fieldsOf(value)["itemId"] }] : [],
  )
  // The SDK takes the id of a call that the provider has executed for that of its item.
  const all = isHosted && named.length === 0 ? [{ name: "", id: toolCallId }] : named
  const refused = all.flatMap(({ name, id }) => {
    const why = itemProblem({ type: String(type), name, id, isHosted }, message, writer)
    return why === undefined ? [] : [{ name, why }]
  })
  const [first] = refused
  if (first === undefined) return part
  if (isHosted || (type !== "text" && type !== "tool-call")) {
    const code = first.why === EXPIRED ? "expired" : type === "reasoning" ? "thinking" : "blocks"
    writer.lost.add(code, entryId, 1, first.why)
    return undefined
  }
  const sent = options.map(([name, value]) => {
    const { itemId: _, ...rest } = fieldsOf(value)
    return [name, refused.some((one) => one.name === name) ? rest : value]
  })
  return { ...part, providerOptions: Object.fromEntries(sent) as Fields }
}

interface NamedItem {
  /** Of the part. */
  readonly type: string
  /** Of the provider that gave the id; "" if it is that of a call. */
  readonly name: string
  readonly id: unknown
  readonly isHosted: boolean
}

/** Why the API does not take the item's id; undefined: it does, and the message is the one that has it. */
function itemProblem(
  { type, name, id, isHosted }: NamedItem,
  message: ModelMessage,
  { itemIds, isStored, now }: Writer,
): string | undefined {
  const isOwn = name !== "openai" || isItemId(ITEMS[type] ?? "", id)
  // A call has one id with its result, and the parts of a reasoning or a text have one.
  const key = isHosted ? `${type} ${String(id)}` : id
  const isFirst = type === "custom" ? !itemIds.has(key) : (itemIds.get(key) ?? message) === message
  if (!isOwn || !isFirst) return "its id is one that the Responses API does not take, or occurred before"
  itemIds.set(key, message)
  if (!isStored) return undefined
  // "Item with id … not found" after `stop()`: https://github.com/vercel/ai/issues/8811 (2026-11-29).
  if (isCutOff(message)) return "the API stores no answer that was cut off"
  return referenceProblem({ id }, { isStored, now }) === undefined ? undefined : EXPIRED
}

const EXPIRED = "the API's store has answers for 30 days. Texts are sent"

/** What the parts are in the Responses API. */
const ITEMS: Readonly<Record<string, string>> = { reasoning: "reasoning", text: "message" }

/** A file of the user. One that a provider keeps goes to that provider only. */
function takesFile({ type, mediaType, data }: Fields, { provider, files, images }: AiSdkRules): boolean {
  if (type !== "file") return true
  const { reference } = fieldsOf(data)
  if (reference !== undefined) return provider === "" || Object.hasOwn(fieldsOf(reference), provider ?? "")
  const of = String(mediaType)
  if (!of.startsWith("image")) return files.test(of)
  // The SDK finds out what an image is that is named without its type.
  return images.types.length > 0 && (/^image(?:\/\*)?$/.test(of) || images.types.includes(of))
}

/** Without a signature that is not of Google, as gateways to several providers write them: "Base64 decoding failed". */
function withSignature(part: Fields, entryId: string, { lost }: Writer): Fields {
  const { google, ...others } = fieldsOf(part["providerOptions"])
  const { thoughtSignature: signature, ...rest } = fieldsOf(google)
  if (signature === undefined || SIGNATURE.test(String(signature))) return part
  lost.add("signatures", entryId, 1, "Gemini takes signatures in base64 only")
  return { ...part, providerOptions: { ...others, google: rest } }
}

const SENT_OUTPUTS: ReadonlySet<string> = new Set(["text", "image", PART])

function partOf(
  block: ContentBlock,
  { message, entryId }: Item,
  { rules, lost, isStored }: Writer,
): Fields | undefined {
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
      if (isNative(block, API)) return { type: "reasoning", text: block.thinking }
      const options = message.role === "assistant" ? optionsOfThinking(block, message, isStored) : {}
      if (block.signature !== undefined && options["providerOptions"] === undefined) lost.add("signatures", entryId)
      return { type: "reasoning", text: block.thinking, ...options }
    }
    case PART: {
      const part = fieldsOf((block as Fields)["part"])
      if (message.role !== "user" || takesFile(part, rules)) return part
      lost.add("files", entryId, 1, `${rules.receiver} does not take their types, or another provider keeps them`)
      return { type: "text", text: `[File: ${String(part["filename"] ?? part["mediaType"])}]` }
    }
    default:
      lost.add("blocks", entryId)
      return undefined
  }
}
