/**
 * One item of the SDK as one entry of the log, and back, without loss. The entry is a message that people and other programs can read.
 * What the message has not is in a field beside it: `frame`, the item with null in place of each text that the message has, or `item`,
 * the whole item, if the message has no part of it.
 */
import { type ContentBlock, type Entry, type NewEntry, type NewMessage, SessionError } from "@sessions/core"
import { fromBase64, isBytes, toBase64 } from "./base64.ts"

type Fields = Record<string, unknown>

/** The fields of the entry of an item. */
export type ItemEntry = NewEntry & {
  readonly type: "message"
  readonly message: NewMessage
  readonly frame?: unknown
  readonly item?: unknown
  /** The paths in `item` of byte arrays, which are stored as base64. */
  readonly bytes?: readonly (readonly string[])[]
}

/** The role of the message of an item that has no text of its own; models and people do not see it. */
const ITEM_ROLE = "openai:item"

/** The entry of an item. Throws `invalid` for a value that JSON cannot hold. Keeps nothing of the given object. */
export function toEntry(item: object): ItemEntry {
  const bytes: string[][] = []
  const copy = copyOf(item, bytes)
  if (!isObject(copy)) throw refusedError([], "is not an object")
  const lifted = bytes.length === 0 ? lift(copy) : undefined
  if (lifted !== undefined) return { type: "message", ...lifted }
  const message: NewMessage = { role: ITEM_ROLE, content: [] }
  return { type: "message", message, item: copy, ...(bytes.length === 0 ? {} : { bytes }) }
}

/** Whether an entry is that of an item. Other messages, which other programs have written, are not part of the SDK's history. */
export function isItemEntry(entry: Entry): boolean {
  return entry.type === "message" && (isObject(entry["frame"]) || isObject(entry["item"]))
}

/** The item of an entry for which {@link isItemEntry} is true. */
export function toItem(entry: Entry): Fields {
  const { frame, item, bytes, message } = entry as Fields
  if (isObject(frame))
    return unlift(frame, isObject(message) && Array.isArray(message["content"]) ? message["content"] : [])
  if (Array.isArray(bytes)) for (const path of bytes) restoreBytes(item as Fields, path)
  return item as Fields
}

interface Lifted {
  readonly message: NewMessage
  readonly frame: Fields
}

/** The message of an item, and the rest. Undefined: the item has no text of its own, or one that its frame could not mark. */
function lift(item: Fields): Lifted | undefined {
  const { type, role, callId, name } = item
  if ((type === undefined || type === "message") && (role === "user" || role === "system" || role === "assistant")) {
    const content = liftContent(item["content"])
    return content?.blocks.length
      ? { message: { role, content: content.blocks }, frame: { ...item, content: content.frame } }
      : undefined
  }
  if (type === "reasoning") {
    const content = liftContent(item["content"])
    if (content === undefined || content.blocks.length === 0 || !content.blocks.every(isText)) return undefined
    const blocks = content.blocks.map(({ text }) => ({ type: "thinking" as const, thinking: text }))
    return { message: { role: "assistant", content: blocks }, frame: { ...item, content: content.frame } }
  }
  if (typeof callId !== "string" || typeof name !== "string") return undefined
  if (type === "function_call") return liftCall(item, callId, name)
  if (type === "function_call_result") {
    const content = liftContent(item["output"])
    if (content === undefined) return undefined
    const isError = item["status"] === "incomplete"
    const message: NewMessage = {
      role: "toolResult",
      toolCallId: callId,
      toolName: name,
      isError,
      content: content.blocks,
    }
    return { message, frame: { ...item, output: content.frame } }
  }
  return undefined
}

function liftCall(item: Fields, id: string, name: string): Lifted | undefined {
  const text = item["arguments"]
  if (typeof text !== "string") return undefined
  const parsed = parseObject(text)
  const message: NewMessage = { role: "assistant", content: [{ type: "toolCall", id, name, arguments: parsed ?? {} }] }
  // A text with other spaces or an order of keys that JavaScript changes is kept as it is.
  const isSame = parsed !== undefined && !text.includes("__proto__") && JSON.stringify(parsed) === text
  return { message, frame: isSame ? { ...item, arguments: null } : item }
}

/** The field of each kind of part that a block of the message has. */
const LIFTED: ReadonlyMap<unknown, string> = new Map([
  ["input_text", "text"],
  ["output_text", "text"],
  ["reasoning_text", "text"],
  ["text", "text"],
  ["refusal", "refusal"],
  ["input_image", "image"],
])

interface LiftedContent {
  readonly blocks: readonly (TextPart | ImagePart)[]
  readonly frame: unknown
}
type TextPart = { readonly type: "text"; readonly text: string }
type ImagePart = { readonly type: "image"; readonly data: string; readonly mimeType: string }

function isText(block: TextPart | ImagePart): block is TextPart {
  return block.type === "text"
}

/** Content is a text, a part or a list of parts. In the frame null marks a text that is in the next block. */
function liftContent(content: unknown): LiftedContent | undefined {
  if (typeof content === "string") return { blocks: [{ type: "text", text: content }], frame: null }
  const blocks: (TextPart | ImagePart)[] = []
  if (isObject(content)) {
    const part = liftPart(content, blocks)
    return part === undefined ? undefined : { blocks, frame: part }
  }
  if (!Array.isArray(content)) return undefined
  const frame: Fields[] = []
  for (const part of content as readonly unknown[]) {
    const framed = isObject(part) ? liftPart(part, blocks) : undefined
    if (framed === undefined) return undefined
    frame.push(framed)
  }
  return { blocks, frame }
}

function liftPart(part: Fields, blocks: (TextPart | ImagePart)[]): Fields | undefined {
  const field = LIFTED.get(part["type"])
  if (field === undefined) return part
  const value = part[field]
  // Null would be taken for the mark.
  if (value === null) return undefined
  if (typeof value !== "string") return part
  const block = field === "image" ? imageOf(value) : ({ type: "text", text: value } as const)
  if (block === undefined) return part
  blocks.push(block)
  return { ...part, [field]: null }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/

function imageOf(url: string): ImagePart | undefined {
  const [, mimeType, data] = DATA_URL.exec(url) ?? []
  return mimeType === undefined || data === undefined ? undefined : { type: "image", data, mimeType }
}

function unlift(frame: Fields, blocks: readonly ContentBlock[]): Fields {
  const { type } = frame
  if (type === "function_call") {
    const block = blocks[0] as Fields | undefined
    return frame["arguments"] === null ? { ...frame, arguments: JSON.stringify(block?.["arguments"] ?? {}) } : frame
  }
  const field = type === "function_call_result" ? "output" : "content"
  const value = frame[field]
  let next = 0
  const take = (): unknown => valueOf(blocks[next++])
  const unliftPart = (part: Fields): Fields => {
    const lifted = LIFTED.get(part["type"])
    return lifted !== undefined && part[lifted] === null ? { ...part, [lifted]: take() } : part
  }
  if (value === null) return { ...frame, [field]: take() }
  if (Array.isArray(value)) return { ...frame, [field]: (value as Fields[]).map(unliftPart) }
  return { ...frame, [field]: unliftPart(value as Fields) }
}

function valueOf(block: ContentBlock | undefined): unknown {
  const { type, text, thinking, mimeType, data } = (block ?? {}) as Fields
  return type === "image" ? `data:${String(mimeType)};base64,${String(data)}` : type === "thinking" ? thinking : text
}

function copyOf(item: object, bytes: string[][]): unknown {
  try {
    return snapshot(item, [], bytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw refusedError([], "contains itself, or is nested too deeply")
  }
}

/**
 * A copy that JSON can hold. Properties that are undefined are left out, as JSON does; byte arrays become base64. `path` is that of the value,
 * one array for all of them, since most items have no bytes.
 */
function snapshot(value: unknown, path: string[], bytes: string[][]): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value
    throw refusedError(path, `is ${value}`)
  }
  if (isBytes(value)) {
    bytes.push([...path])
    return toBase64(value)
  }
  if (Array.isArray(value)) return Array.from(value, (part, index) => partOf(part, String(index), path, bytes))
  if (typeof value !== "object" || !isPlain(value)) throw refusedError(path, `is of the type ${nameOf(value)}`)
  const copy: Fields = {}
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue
    const kept = partOf(part, key, path, bytes)
    // Assigning this key would set the prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: kept, enumerable: true, configurable: true, writable: true })
    else copy[key] = kept
  }
  return copy
}

function partOf(part: unknown, key: string, path: string[], bytes: string[][]): unknown {
  if (typeof part === "string") return part
  path.push(key)
  const kept = snapshot(part, path, bytes)
  path.pop()
  return kept
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The constructor's name, since an object may come from another realm.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

function nameOf(value: unknown): string {
  return typeof value === "object" ? (value?.constructor?.name ?? "object") : typeof value
}

function refusedError(path: readonly string[], problem: string): SessionError {
  const place = path.length === 0 ? "The item" : `The item's ${path.join(".")}`
  return new SessionError(
    "invalid",
    `${place} ${problem}, which cannot be stored: items are JSON. Nothing was written.`,
  )
}

function restoreBytes(item: Fields, path: readonly string[]): void {
  let holder: unknown = item
  for (const key of path.slice(0, -1))
    holder = isObject(holder) || Array.isArray(holder) ? (holder as Fields)[key] : undefined
  const last = path.at(-1)
  if (last === undefined || typeof holder !== "object" || holder === null) return
  const text = (holder as Fields)[last]
  if (typeof text === "string") (holder as Fields)[last] = fromBase64(text)
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
