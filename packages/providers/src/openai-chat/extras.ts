/**
 * Fields of an answer that OpenAI's own API does not have: reasoning, signatures, details. They are kept in the field `native` of a block, beside
 * the content that they belong to, so that an edit of the answer takes them away with it.
 */
import type { ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"

/** Fields that hold readable reasoning, the preferred one first. */
const TEXTS = ["reasoning_content", "reasoning", "reasoning_text"] as const

/** Fields that are reasoning without a readable text: an answer that has one has a block of thinking. */
const OPAQUE: ReadonlySet<string> = new Set([
  "reasoning_details",
  "reasoning_opaque",
  "thinking_blocks",
  "extra_content",
])

/** Fields of a message that have a place of their own in ours. */
const KNOWN: ReadonlySet<string> = new Set(["role", "content", "refusal", "audio", "tool_calls", "function_call"])

interface Kept {
  /** Fields whose text is that of the block of thinking. */
  readonly texts?: readonly string[]
  /** All other fields, as they were. */
  readonly message?: Fields
}

export function isExtra(key: string, value: unknown): boolean {
  if (KNOWN.has(key) || value === null || value === undefined || value === "") return false
  return typeof value !== "object" || Object.keys(value).length > 0
}

/** `content` with the extra fields of the answer's message: in a block of thinking before it, or in its first block. */
export function withExtras(content: readonly ContentBlock[], record: Fields): readonly ContentBlock[] {
  const extras = Object.entries(record).filter(([key, value]) => isExtra(key, value))
  if (extras.length === 0) return content
  const thinking = readable(record)
  const texts = TEXTS.filter((key) => thinking !== "" && record[key] === thinking)
  const others = extras.filter(([key]) => !(texts as readonly string[]).includes(key))
  const kept: Kept = {
    ...(texts.length === 0 ? {} : { texts }),
    ...(others.length === 0 ? {} : { message: Object.fromEntries(others) }),
  }
  if (thinking !== "" || others.some(([key]) => OPAQUE.has(key)))
    return [{ type: "thinking", thinking, native: { api: "openai-chat", fields: {}, ...kept } }, ...content]
  const [first, ...rest] = content
  if (first === undefined) return content
  const native = fieldsOf((first as Fields)["native"])
  return [{ ...first, native: { api: "openai-chat", fields: {}, ...native, ...kept } }, ...rest]
}

function readable({ reasoning_details: details, ...record }: Fields): string {
  for (const key of TEXTS) {
    const text = stringOf(record[key]) ?? ""
    if (text !== "") return text
  }
  if (!Array.isArray(details)) return ""
  return (details as readonly unknown[])
    .map((detail) => stringOf(fieldsOf(detail)["text"]) ?? stringOf(fieldsOf(detail)["summary"]) ?? "")
    .join("")
}

/** The extra fields of an answer, of which `content` is the message. Empty if it has none, or another API made it. */
export function extrasOf(content: readonly ContentBlock[]): Fields {
  const holder = content.find((block) => Object.keys(keptOf(block)).length > 0)
  if (holder === undefined) return {}
  const { texts = [], message = {} } = keptOf(holder)
  const text = holder.type === "thinking" ? holder.thinking : undefined
  return { ...message, ...(text === undefined ? {} : Object.fromEntries(texts.map((key) => [key, text]))) }
}

function keptOf(block: ContentBlock): Kept {
  const { api, texts, message } = fieldsOf((block as Fields)["native"])
  if (api !== "openai-chat") return {}
  return {
    ...(Array.isArray(texts) ? { texts: texts as string[] } : {}),
    ...(message === undefined ? {} : { message: fieldsOf(message) }),
  }
}

/**
 * Adds a piece of an extra field that a stream gives: texts and lists grow, objects are merged, any other value replaces the one before. What
 * grows is copied once, since a copy for each piece costs the square of them.
 */
export function addPiece(target: Record<string, unknown>, key: string, piece: unknown): void {
  const before = ownAt(target, key)
  if (typeof piece === "string" && typeof before === "string" && !WHOLE.has(key)) target[key] = before + piece
  else if (Array.isArray(piece)) {
    const list: unknown[] = Array.isArray(before) ? before : []
    grow(list, piece)
    target[key] = list
  } else if (isPlain(piece) && isPlain(before)) {
    for (const [inner, value] of Object.entries(piece)) if (value !== null) addWhole(before, inner, value)
  } else target[key] = piece
}

/** Values that a stream gives at once. */
const WHOLE: ReadonlySet<string> = new Set(["reasoning_opaque"])

function addWhole(target: Record<string, unknown>, key: string, value: unknown): void {
  const before = isPlain(value) ? ownAt(target, key) : undefined
  if (isPlain(value) && isPlain(before)) for (const [inner, one] of Object.entries(value)) addWhole(before, inner, one)
  else target[key] = value
}

/** Objects of ours. The others belong to the events. */
const OWN = new WeakSet<object>()

/** What the target itself has at the key: of an object, one that may be changed. */
function ownAt(target: Record<string, unknown>, key: string): unknown {
  const value = Object.hasOwn(target, key) ? target[key] : undefined
  if (!isPlain(value) || OWN.has(value)) return value
  const copy = { ...value }
  OWN.add(copy)
  target[key] = copy
  return copy
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/**
 * OpenRouter streams a text of `reasoning_details` in pieces that have one index and type; the pieces of what is encrypted are whole.
 * Source: openrouter.ai/docs/guides/best-practices/reasoning-tokens (2026-11).
 */
function grow(all: unknown[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    const last = all.at(-1)
    const key = isPlain(piece) && isPlain(last) ? pieceKey(last, piece) : undefined
    if (key === undefined) all.push(piece)
    else all[all.length - 1] = joined(last as Fields, piece as Fields, key)
  }
}

/** The field of two details that is one text; undefined if they are two. */
function pieceKey(last: Fields, piece: Fields): string | undefined {
  const key = { "reasoning.text": "text", "reasoning.summary": "summary" }[String(piece["type"])]
  const isSame = last["type"] === piece["type"] && (last["index"] ?? piece["index"]) === piece["index"]
  const isOther = typeof last["id"] === "string" && typeof piece["id"] === "string" && last["id"] !== piece["id"]
  // A text that has its signature is whole.
  const isWhole = stringOf(last["signature"]) !== undefined && (stringOf(piece[key ?? ""]) ?? "") !== ""
  return isSame && !isOther && !isWhole ? key : undefined
}

function joined(last: Fields, piece: Fields, key: string): Fields {
  const given = Object.entries(piece).filter(([, value]) => value !== null && value !== undefined)
  const text = (stringOf(last[key]) ?? "") + (stringOf(piece[key]) ?? "")
  return { ...last, ...Object.fromEntries(given), [key]: text }
}
