/**
 * Parses and encodes a record as one line of JSON. Our lines have their keys in one order: type, id, parentId, seq, timestamp, then the
 * payload in its own order. So `seq` can be filled in after the rest was encoded.
 */
import { SessionError } from "./errors.ts"
import type { Entry } from "./entry.ts"
import type { Header } from "./header.ts"
import { type Fields, isObject } from "./shape.ts"

/** Any record of a log, whatever its version: an object with a type. */
export interface LogRecord {
  readonly type: string
  readonly [key: string]: unknown
}

export type ParsedLine =
  | { readonly record: LogRecord; readonly problem?: undefined }
  | { readonly problem: string; readonly record?: undefined }

/** The line of an entry in two parts, between which its seq belongs. */
export interface EncodedEntry {
  readonly before: string
  readonly after: string
  /** The line with the seq that the entry had. Most entries keep it, so the parts need not be joined. */
  readonly line?: { readonly seq: number; readonly text: string }
}

/** Reads one line. Never throws. A leading BOM and a trailing CR are tolerated. */
export function parseLine(line: string): ParsedLine {
  let value: unknown
  try {
    value = JSON.parse(line.charCodeAt(0) === 0xfeff ? line.slice(1) : line)
  } catch {
    // Not the engine's message: it quotes the line, which may contain secrets, and differs between runtimes.
    return { problem: line.trim() === "" ? "The line is blank." : "The line is not JSON." }
  }
  if (!isObject(value)) return { problem: "The line is JSON, but not an object." }
  if (typeof value["type"] !== "string") return { problem: "The record has no text as its `type`." }
  return { record: value as LogRecord }
}

/** Whether a record is the title that oh-my-pi writes before the header. */
export function isTitleSlot(record: LogRecord): boolean {
  return record.type === "title" && typeof record["v"] === "number"
}

/**
 * Encodes an entry whose seq may change. Costs one `JSON.stringify` if the keys are in our order. Throws `invalid` for values that cannot
 * be JSON (a cycle, a bigint), `too_large` for those that the runtime cannot write.
 */
export function toEncodedEntry(entry: Entry): EncodedEntry {
  const clean = withoutTransients(entry)
  if (!isInOrder(clean)) return encodeInParts(clean)
  const text = stringify(clean)
  // The strings before it cannot contain this, because a quote inside a JSON string follows a backslash.
  const at = text.indexOf(',"seq":') + 7
  const line = { seq: clean.seq, text }
  return { before: text.slice(0, at), after: text.slice(text.indexOf(",", at)), line }
}

export function lineOf(encoded: EncodedEntry, seq: number): string {
  if (encoded.line?.seq === seq) return encoded.line.text
  return encoded.before + String(seq) + encoded.after
}

/** The line of an entry. Throws `invalid` for values that cannot be JSON. */
export function encodeEntry(entry: Entry): string {
  const clean = withoutTransients(entry)
  return isInOrder(clean) ? stringify(clean) : lineOf(encodeInParts(clean), entry.seq)
}

/** The header's line. Throws `invalid` for values that cannot be JSON. */
export function encodeHeader(header: Header): string {
  const { type, format, version, id, timestamp, ...rest } = header
  return stringify({ type, format, version, id, timestamp, ...rest })
}

/**
 * The record without the fields of a stream in progress, the only fields that are ever dropped; the record itself if it has none. Only
 * entries with content, their messages and their blocks are searched, and nothing inside a block: tool arguments, details and unknown
 * entries belong to the user and may use the same names.
 */
export function withoutTransients<R extends LogRecord>(record: R): R {
  if (record.type === "message") return withHolder(record, "message")
  if (record.type === "context_edit") return withHolder(record, "replacement")
  return record.type === "custom_message" ? cleanHolder(record) : record
}

/** Whether the first five keys are those of {@link ORDER}, and `seq` is a number. */
function isInOrder(entry: Entry): boolean {
  if (typeof entry.seq !== "number" || typeof entry["toJSON"] === "function") return false
  let position = 0
  for (const key in entry) {
    if (key !== ORDER[position]) return false
    position++
    if (position === ORDER.length) return true
  }
  return false
}

const ORDER: readonly string[] = ["type", "id", "parentId", "seq", "timestamp"]

function encodeInParts(entry: Entry): EncodedEntry {
  const { type, id, parentId, seq: _, timestamp, ...rest } = entry
  // `JSON.stringify` would call it and encode its result in place of the entry.
  if (typeof rest["toJSON"] === "function") delete (rest as { toJSON?: unknown })["toJSON"]
  const payload = stringify(rest)
  return {
    before: `{"type":${stringify(type)},"id":${stringify(id)},"parentId":${stringify(parentId)},"seq":`,
    after: `,"timestamp":${stringify(timestamp)}${payload === "{}" ? "}" : `,${payload.slice(1)}`}`,
  }
}

export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    // An InternalError in Firefox.
    const isLarge = /Range|Internal/.test((cause as Error).name)
    const reason = isLarge ? "is nested too deeply or too long" : "holds a cycle or a bigint"
    throw new SessionError(isLarge ? "too_large" : "invalid", `The entry ${reason}, and is no JSON.`, { cause })
  }
}

function withHolder<R extends LogRecord>(record: R, key: string): R {
  const clean = cleanObject(record)
  const holder = record[key]
  if (!isObject(holder)) return clean
  const cleaned = cleanHolder(holder)
  return cleaned === holder ? clean : { ...clean, [key]: cleaned }
}

/** Cleans an object with blocks as its `content`. */
function cleanHolder<T extends Fields>(holder: T): T {
  const clean = cleanObject(holder)
  const content = holder["content"]
  if (!Array.isArray(content)) return clean
  const blocks = content as readonly unknown[]
  if (!blocks.some(hasTransients)) return clean
  return { ...clean, content: blocks.map((block) => (isObject(block) ? cleanObject(block) : block)) }
}

function hasTransients(value: unknown): boolean {
  return isObject(value) && (value["partialJson"] !== undefined || value["jsonlEvents"] !== undefined)
}

function cleanObject<T extends Fields>(object: T): T {
  if (!hasTransients(object)) return object
  const { partialJson: _, jsonlEvents: __, ...rest } = object
  return rest as unknown as T
}
