/**
 * Reads and writes JSON Lines as bytes: UTF-8 lines that end with LF. No other character separates lines: U+2028 is an ordinary character,
 * a CR or a BOM is part of its line. Damaged lines are reported with their bytes.
 */
import { checkOptions, type OptionNames } from "../storage/options.ts"
import { SessionError } from "./errors.ts"
import { isWellFormed, utf8Length } from "../storage/utf8.ts"

interface LineLocation {
  /** Byte offset of the line's first byte. */
  readonly at: number
  /** The line's length, without its LF. */
  readonly bytes: number
  /** False for the bytes after the last LF: a torn line, or one that its writer did not end. */
  readonly terminated: boolean
}

export interface TextLine extends LineLocation {
  readonly line: string
  readonly problem?: undefined
}

/** A line that is not UTF-8, with its bytes unchanged. */
export interface UnreadableLine extends LineLocation {
  readonly line?: undefined
  readonly problem: "not_utf8"
  /** Byte offset, in the source, of the first byte that is not UTF-8. */
  readonly badAt: number
  readonly raw: Uint8Array
}

/** A line longer than `maxLineBytes`, or than a string of this runtime. */
export interface LongLine extends LineLocation {
  readonly line?: undefined
  readonly problem: "too_long"
}

export type ReadLine = TextLine | UnreadableLine | LongLine

export interface ReadLinesOptions {
  /** Longer lines are reported as `too_long` and not held in memory. Default: the longest string of the runtime. */
  readonly maxLineBytes?: number
}

const OPTIONS: OptionNames<ReadLinesOptions> = { maxLineBytes: 1 }

/** Splits a source into lines, with memory proportional to the longest line. Rejects only with the source's own errors. */
export async function* readLines(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  o: ReadLinesOptions = {},
): AsyncGenerator<ReadLine, void, undefined> {
  checkOptions("readLines", o, OPTIONS)
  const pending = new PendingLine(o.maxLineBytes ?? Number.POSITIVE_INFINITY)
  for await (const bytes of toBytes(source)) {
    let from = 0
    for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, from)) {
      pending.add(bytes.subarray(from, lf))
      yield pending.take(true)
      from = lf + 1
    }
    // A copy, because a source may reuse its buffer.
    if (from < bytes.length) pending.add(bytes.slice(from))
  }
  if (pending.bytes > 0) yield pending.take(false)
}

/** The bytes of lines, each with its LF. Throws `invalid` for a line that would not be read back unchanged. */
export function encodeLines(lines: readonly string[]): Uint8Array {
  for (const line of lines) {
    if (line.includes("\n")) throw new SessionError("invalid", "A line must not contain a line feed.")
    if (!isWellFormed(line)) throw new SessionError("invalid", "A line must not contain a lone surrogate; escape it.")
  }
  return new TextEncoder().encode(lines.length === 0 ? "" : `${lines.join("\n")}\n`)
}

const LF = 10

/** The chunks of the current line. They are joined once, at its end, because a line may arrive in thousands of chunks. */
class PendingLine {
  bytes = 0
  #at = 0
  #chunks: Uint8Array[] = []
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    if (this.bytes > this.#maxBytes) this.#chunks = []
    else this.#chunks.push(chunk)
  }

  take(terminated: boolean): ReadLine {
    const location: LineLocation = { at: this.#at, bytes: this.bytes, terminated }
    const chunks = this.#chunks
    this.#at += this.bytes + 1
    this.bytes = 0
    this.#chunks = []
    if (location.bytes > this.#maxBytes) return { ...location, problem: "too_long" }
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : joinBytes(chunks)
    try {
      return { ...location, line: this.#decoder.decode(bytes) }
    } catch {
      const bad = firstBadByte(bytes)
      if (bad < 0) return { ...location, problem: "too_long" }
      // A copy, because the source may reuse its buffer.
      return { ...location, problem: "not_utf8", badAt: location.at + bad, raw: bytes.slice() }
    }
  }
}

/** Chunks of text as bytes. A surrogate pair split across two chunks is joined; a lone surrogate becomes bytes that are not UTF-8. */
async function* toBytes(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let high = ""
  for await (const chunk of source) {
    if (typeof chunk !== "string") {
      if (high !== "") yield wtf8(high)
      high = ""
      yield chunk
      continue
    }
    const text = high + chunk
    const last = text.charCodeAt(text.length - 1)
    high = last >= 0xd800 && last < 0xdc00 ? text.slice(-1) : ""
    yield wtf8(high === "" ? text : text.slice(0, -1))
  }
  if (high !== "") yield wtf8(high)
}

/** The offset at which the first invalid or incomplete UTF-8 sequence begins, or -1 if the text is longer than the strings of this runtime. */
function firstBadByte(bytes: Uint8Array): number {
  let text: string
  try {
    text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  } catch {
    return -1
  }
  let at = 0
  for (let offset = 0; ; offset += 3) {
    const replacement = text.indexOf("\ufffd", at)
    offset += utf8Length(text.slice(at, replacement))
    // The three bytes of U+FFFD are valid.
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) return offset
    at = replacement + 1
  }
}

/** UTF-8, except that a lone surrogate becomes its three WTF-8 bytes, which every UTF-8 decoder rejects. */
function wtf8(text: string): Uint8Array {
  const encoder = new TextEncoder()
  if (isWellFormed(text)) return encoder.encode(text)
  const pieces = text.split(/([\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF])/)
  const bytes = pieces.map((piece, index) => {
    if (index % 2 === 0) return encoder.encode(piece)
    const unit = piece.charCodeAt(0)
    return Uint8Array.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f))
  })
  return joinBytes(bytes)
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}
