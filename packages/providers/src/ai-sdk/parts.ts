/** Parts of model messages as blocks, and the outputs of tools as contents. */
import type { AssistantMessage, ContentBlock, ToolResultMessage } from "@sessions/core"
import { argumentsOf, type Fields, fieldsOf, stringOf, textBlock } from "@sessions/formats/messages/values"
import { SIGNATURE } from "../gemini/rules.ts"
import { withNative } from "../shared/native.ts"
import { FAILED } from "../shared/prepare.ts"

/** A part that ours do not have, as it was: `{part}`. */
export const PART = "ai-sdk:part"

/** A block of an assistant's part. What the provider executes itself stays a part: its result is no message of ours. */
export function blockOfPart(part: Fields): ContentBlock {
  const { type, text, providerOptions } = part
  if (type === "text" && typeof text === "string") return withNative(textBlock(text), "ai-sdk", part, { type, text })
  if (type === "reasoning" && typeof text === "string") {
    const signature = signatureOf(providerOptions)
    const block = { type: "thinking" as const, thinking: text, ...(signature === undefined ? {} : { signature }) }
    return withNative(block, "ai-sdk", part, { type, text })
  }
  if (type === "tool-call" && part["providerExecuted"] !== true) {
    const { toolCallId, toolName, input } = part
    const id = String(toolCallId)
    const block = { type: "toolCall" as const, id, name: String(toolName), arguments: argumentsOf(input) }
    return withNative(block, "ai-sdk", part, { type, toolCallId, toolName, input: block.arguments })
  }
  const file = fileOf(part)
  if (file === undefined) return { type: PART, part: storable(inline(part)) }
  const block = { type: "image" as const, mimeType: file.mediaType, data: file.data }
  const { mediaType, data } = file
  return withNative(block, "ai-sdk", { ...part, data }, { type, data, mediaType })
}

/** A file whose data is in a `data:` URL, which the SDK takes of the user alone. */
function inline(part: Fields): Fields {
  const { type, data } = part
  const held = type === "file" || type === "reasoning-file" ? dataOfUrl(urlOf(data)) : undefined
  return held === undefined ? part : { ...part, data: held.data }
}

/** The signature that the provider has to get back, whichever it is. */
function signatureOf(options: unknown): string | undefined {
  const { anthropic, openai, google } = fieldsOf(options)
  return (
    stringOf(fieldsOf(anthropic)["signature"]) ??
    stringOf(fieldsOf(openai)["reasoningEncryptedContent"]) ??
    stringOf(fieldsOf(google)["thoughtSignature"])
  )
}

/** An image whose data is there: bytes, base64, or a `data:` URL. */
function fileOf({ type, mediaType, data }: Fields): { readonly mediaType: string; readonly data: string } | undefined {
  if (type !== "file" || typeof mediaType !== "string" || !mediaType.startsWith("image")) return undefined
  const { type: of, data: inner } = fieldsOf(data)
  const held = of === "data" ? inner : (urlOf(data) ?? data)
  const text = isBytes(held) ? base64Of(held) : stringOf(held)
  if (text === undefined) return undefined
  const url = dataOfUrl(text)
  if (url !== undefined) return { mediaType: mediaType.includes("/") ? mediaType : url.mediaType, data: url.data }
  return /^[a-z]+:/i.test(text) || !mediaType.includes("/") ? undefined : { mediaType, data: text }
}

function urlOf(data: unknown): string | undefined {
  const { type, url } = fieldsOf(data)
  if (isUrl(data)) return data.href
  return type === "url" ? String(url) : stringOf(data)
}

/** In base64, or with escapes, as drawings are written. */
function dataOfUrl(url = ""): { readonly mediaType: string; readonly data: string } | undefined {
  const { 1: mediaType = "", 2: base64, 3: text = "" } = /^data:([^;,]*)[^,]*?(;base64)?,([^]*)$/i.exec(url) ?? []
  if (!/^data:/i.test(url)) return undefined
  if (base64 !== undefined) return { mediaType, data: text }
  try {
    return { mediaType, data: base64Of(new TextEncoder().encode(decodeURIComponent(text))) }
  } catch {
    // No escapes.
    return undefined
  }
}

/** Bytes and URLs as texts: an entry is JSON. */
function storable(value: unknown): unknown {
  if (isBytes(value)) return base64Of(value)
  if (isUrl(value)) return value.href
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, storable(one)]))
}

// Not `instanceof`, which is false for a value of another frame or VM context.
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]"
}

function isUrl(value: unknown): value is URL {
  return Object.prototype.toString.call(value) === "[object URL]"
}

function base64Of(bytes: Uint8Array): string {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

/** A `tool-result` part. Its output is kept beside the content if the content does not give it, and so are its options. */
export function resultOfPart(part: Fields): ToolResultMessage {
  const { toolCallId, toolName, output, providerOptions } = part
  const { content, isError } = contentOfOutput(fieldsOf(output))
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: String(toolCallId),
    toolName: String(toolName),
    isError,
    content,
  }
  const compared = withNative(textBlock(""), "ai-sdk", fieldsOf(output), outputOf(message))
  const options = providerOptions === undefined ? {} : { providerOptions }
  if (compared["native"] === undefined && providerOptions === undefined) return message
  return { ...message, native: { api: "ai-sdk", fields: { output: storable(output), ...options } } }
}

export function contentOfOutput(output: Fields): {
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
} {
  const { type, value, reason } = output
  const isError = type === "error-text" || type === "error-json" || type === "execution-denied"
  if (type === "execution-denied") return { content: [textBlock(stringOf(reason) ?? DENIED)], isError }
  if (type === "content" && Array.isArray(value))
    return { content: (value as readonly Fields[]).map(blockOfOutput), isError }
  return { content: [textBlock(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))], isError }
}

/** What the AI SDK tells a model. */
const DENIED = "Tool call execution denied."

function blockOfOutput(part: Fields): ContentBlock {
  const { type, text } = part
  if (type === "text" && typeof text === "string") return textBlock(text)
  // `image-data` and `file-data` are older forms of it.
  const isFile = type === "file" || type === "image-data" || type === "file-data"
  const file = isFile ? fileOf({ ...part, type: "file" }) : undefined
  return file === undefined
    ? { type: PART, part: storable(part) }
    : { type: "image", mimeType: file.mediaType, data: file.data }
}

/** The output of a result that another provider's loop has stored. `isText`: as one text. */
export function outputOf(
  { content, isError }: Pick<ToolResultMessage, "content" | "isError">,
  isText: boolean = content.every(({ type }) => type === "text") && content.length < 2,
): Fields {
  const value = isText ? [] : content.flatMap(partOfOutput)
  if (value.length > 0) return { type: "content", value }
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n")
  return isError ? { type: "error-text", value: text || FAILED } : { type: "text", value: text }
}

function partOfOutput(block: ContentBlock): readonly Fields[] {
  if (block.type === "text") return [{ type: "text", text: block.text }]
  if (block.type === "image")
    return [{ type: "file", data: { type: "data", data: block.data }, mediaType: block.mimeType }]
  return block.type === PART ? [fieldsOf((block as Fields)["part"])] : []
}

/** By the providers' names in the AI SDK. Empty: the signature cannot be sent. `isStored`: the SDK sends ids of items without what they say. */
export function optionsOfThinking(block: ContentBlock, { provider }: AssistantMessage, isStored: boolean): Fields {
  const { signature, native } = block as Fields
  if (typeof signature !== "string" || signature === "") return {}
  if (provider === "anthropic") return { providerOptions: { anthropic: { signature } } }
  if (provider === "google" && SIGNATURE.test(signature))
    return { providerOptions: { google: { thoughtSignature: signature } } }
  const itemId = stringOf(fieldsOf(fieldsOf(native)["fields"])["id"])
  if (provider !== "openai" || itemId === undefined || isStored) return {}
  return { providerOptions: { openai: { itemId, reasoningEncryptedContent: signature } } }
}
