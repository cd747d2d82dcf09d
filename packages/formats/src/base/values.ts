/** Checks and conversions of the JSON values that the files of agents consist of. */
import { type ContentBlock, type ImageBlock, SessionError, type TextBlock } from "@sessions/core"
import { type Fields, isObject } from "@sessions/core/format"

export { type Fields, isObject }

/** The value as an object; one without fields if it is none. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : NO_FIELDS
}

const NO_FIELDS: Fields = Object.freeze({})

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** A value that should be an id, as text. Not for lists and objects: they may be nested deeper than the stack. */
export function idTextOf(value: unknown): string {
  return typeof value === "object" && value !== null ? "" : String(value)
}

/** The JSON of a record of a written file. Throws `invalid` for one that is nested deeper than the stack. */
export function jsonOf(record: unknown): string {
  try {
    return JSON.stringify(record)
  } catch (cause) {
    const message = "A record of the file cannot be written as JSON: it is nested too deeply or too long."
    throw new SessionError("invalid", message, { cause })
  }
}

/** JSON with U+FFFD in place of each half of a surrogate pair. */
export function wellFormedJson(json: string): string {
  return json.includes("\\ud") ? json.replaceAll(LONE_SURROGATE, "$1\\ufffd") : json
}

/** JSON has escapes of surrogates for halves only; behind an odd number of backslashes it is none. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

export function numberOf(value: unknown): number | undefined {
  return Number.isFinite(value) ? (value as number) : undefined
}

/**
 * ISO 8601 of a time in milliseconds, or of one in seconds, or the text of one; undefined if it is no time. Texts are returned as they are.
 * A number from 1e8 to 1e11 is in seconds: in milliseconds it would be of the years 1970 to 1973.
 */
export function timestampOf(value: unknown): string | undefined {
  if (typeof value === "string") return ISO.test(value) || !Number.isNaN(Date.parse(value)) ? value : undefined
  if (typeof value !== "number" || !(Math.abs(value) <= LAST_DATE)) return undefined
  return new Date(value >= 1e8 && value < 1e11 ? value * 1000 : value).toISOString()
}

/** What agents write; other forms are parsed, which takes ten times as long. */
const ISO = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(?:\.\d+)?Z$/

/** The last time that a `Date` holds, in milliseconds. ECMA-262, 21.4.1.1. */
const LAST_DATE = 8.64e15

/** The arguments of a tool call. Core takes objects only: any other value is kept as their field `input`. */
export function argumentsOf(value: unknown): Fields {
  return isObject(value) ? value : { input: value ?? null }
}

/** Arguments that a file may hold as JSON text. Text that is no JSON object is kept as their field `input`. */
export function argumentsOfCall(text: unknown): Fields {
  if (typeof text !== "string") return argumentsOf(text)
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Kept as text.
  }
  return { input: text }
}

export function textBlock(text: string): TextBlock {
  return { type: "text", text }
}

/** The image of a `data:` URL in base64; undefined for any other URL. */
export function imageOfDataUrl(url: unknown): ImageBlock | undefined {
  const found = typeof url === "string" ? /^data:([^;,]+);base64,/.exec(url) : null
  if (found?.[1] === undefined) return undefined
  return { type: "image", mimeType: found[1], data: (url as string).slice(found[0].length) }
}

export function dataUrlOf({ mimeType, data }: Pick<ImageBlock, "mimeType" | "data">): string {
  return `data:${mimeType};base64,${data}`
}

/** The texts of blocks, one line feed between two. */
export function textOf(content: readonly ContentBlock[]): string {
  const texts = content.filter((block): block is TextBlock => block.type === "text" && typeof block.text === "string")
  return texts.map(({ text }) => text).join("\n")
}
