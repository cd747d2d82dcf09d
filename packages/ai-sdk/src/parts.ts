/**
 * The parts of a UI message as contents of a conversation. A part has at most one content: a block of the step's message, or the result of
 * a tool. What the content has is not stored a second time in the part: `lift` takes it out, `restore` puts it back.
 */
import type { ContentBlock } from "@sessions/core"
import { type Fields, isObject } from "./json.ts"

export type Part = { readonly type: string } & Fields

export function isTool({ type, toolCallId }: Part): boolean {
  return (type.startsWith("tool-") || type === "dynamic-tool") && typeof toolCallId === "string"
}

export function toolName({ type, toolName }: Part): string {
  return type === "dynamic-tool" ? String(toolName) : type.slice("tool-".length)
}

/** Whether a tool part has its final result. A preliminary output is replaced later. */
export function isFinished(part: Part): boolean {
  if (!isTool(part)) return false
  const { state, preliminary } = part
  return state === "output-error" || state === "output-denied" || (state === "output-available" && preliminary !== true)
}

/** The fields of a tool part that its result brings or replaces. */
export const RESULT_FIELDS: readonly string[] = [
  "output",
  "errorText",
  "preliminary",
  "approval",
  "resultProviderMetadata",
  "rawInput",
  "inputEncoding",
]

/** A finished tool part as it was before it had a result. */
export function withoutResult(part: Part): Part {
  const left = Object.entries(part).filter(([key]) => !RESULT_FIELDS.includes(key))
  return { ...(Object.fromEntries(left) as Part), state: "input-available" }
}

export interface Lifted {
  /** Without the field that the block has. */
  readonly part: Part
  readonly block?: ContentBlock
  /** Whether the block has a field of the part; false: the part is complete. */
  readonly isLifted: boolean
}

/** The part and its block in the conversation. Parts that models do not get, such as sources and data, have none. */
export function lift(part: Part): Lifted {
  if (part.type === "text") return liftText(part, (text) => ({ type: "text", text }))
  if (part.type === "reasoning") return liftText(part, (thinking) => ({ type: "thinking", thinking }))
  if (part.type === "file") return liftFile(part)
  // Input that has not arrived completely is no call.
  if (isTool(part) && part["state"] !== "input-streaming") return liftCall(part)
  return { part, isLifted: false }
}

/** A block may not be empty: some providers refuse it. */
function liftText(part: Part, blockOf: (text: string) => ContentBlock): Lifted {
  const { text, ...rest } = part
  if (typeof text !== "string" || text === "") return { part, isLifted: false }
  return { part: rest, block: blockOf(text), isLifted: true }
}

const IMAGE = /^data:(image\/[^;,]+);base64,/

function liftFile(part: Part): Lifted {
  const { url, ...rest } = part
  const { mediaType, filename } = part
  if (typeof url !== "string" || typeof mediaType !== "string") return { part, isLifted: false }
  const [start, mimeType] = IMAGE.exec(url) ?? []
  if (start !== undefined && mimeType !== undefined) {
    return { part: rest, block: { type: "image", data: url.slice(start.length), mimeType }, isLifted: true }
  }
  const name = typeof filename === "string" ? { filename } : {}
  const path = url.startsWith("data:") ? (name.filename ?? "file") : url
  return { part, block: { type: "file", path, mimeType: mediaType, ...name }, isLifted: false }
}

function liftCall(part: Part): Lifted {
  const { input, ...rest } = part
  const call = { type: "toolCall" as const, id: part["toolCallId"] as string, name: toolName(part) }
  if (!isObject(input)) return { part, block: { ...call, arguments: {} }, isLifted: false }
  return { part: rest, block: { ...call, arguments: input }, isLifted: true }
}

/** The part with the field that `lift` took out. */
export function restore(part: Part, block: ContentBlock): Part {
  if (block.type === "text") return { ...part, text: block.text }
  if (block.type === "thinking") return { ...part, text: block.thinking }
  if (block.type === "image") return { ...part, url: `data:${block.mimeType};base64,${block.data}` }
  if (block.type === "toolCall") return { ...part, input: block.arguments }
  return part
}

/** The field of a finished tool part that is the text of its result: as it is, or as JSON. */
export type ResultField = "output" | "outputJson" | "errorText"

/** The text that a model gets of a finished tool part. */
export function resultOf(part: Part): {
  readonly text: string
  readonly isError: boolean
  readonly field?: ResultField
} {
  const { state, output, errorText, approval } = part
  if (state === "output-denied") {
    const reason = isObject(approval) && typeof approval["reason"] === "string" ? approval["reason"] : undefined
    return { text: reason ?? "The user refused this call.", isError: true }
  }
  if (state === "output-error") {
    return typeof errorText === "string"
      ? { text: errorText, isError: true, field: "errorText" }
      : { text: "", isError: true }
  }
  if (typeof output === "string") return { text: output, isError: false, field: "output" }
  return output === undefined
    ? { text: "", isError: false }
    : { text: JSON.stringify(output), isError: false, field: "outputJson" }
}

/** The field that a result has. The text itself if it is no JSON any more, because a hook or a limit has changed it. */
export function resultFields(text: string, field: ResultField | undefined): Fields {
  if (field === undefined) return {}
  if (field !== "outputJson") return { [field]: text }
  try {
    return { output: JSON.parse(text) as unknown }
  } catch {
    return { output: text }
  }
}
