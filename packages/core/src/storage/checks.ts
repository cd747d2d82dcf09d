/**
 * The argument checks that every adapter makes before it touches its store, so that all of them refuse the same things with the
 * same words. Each throws a {@link StorageError} with code `invalid` (or `aborted`).
 */
import type { StorageAppendOptions, Capabilities, Head, StorageListOptions, ReadRange, Seq } from "./contract.ts"
import { MAX_INFO_BYTES } from "./contract.ts"
import { StorageError } from "./errors.ts"

const SESSION_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/
const DOC_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const HASH = /^[0-9a-f]{64}$/

/** 1-128 characters `[A-Za-z0-9._-]`, starting and ending alphanumeric, no "..". */
export function isSessionId(id: unknown): id is string {
  return typeof id === "string" && SESSION_ID.test(id) && !id.includes("..")
}

export function checkSessionId(id: unknown): asserts id is string {
  if (isSessionId(id)) return
  const shown = typeof id === "string" ? JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id) : String(id)
  throw new StorageError(
    "invalid",
    `${shown} is not a session id: use 1 to 128 of A-Z a-z 0-9 . _ - , with a letter or digit first and last, and no "..".`,
  )
}

const encoder = new TextEncoder()
/** Where texts are encoded to be measured: the engines' own encoders are a hundred times faster than a loop over characters. */
let scratch: Uint8Array | undefined
/** A call of the encoder costs as much as counting so many units. */
const SHORT = 32
/** Units of one call: Chromium copies all of a text for each, also where only its start finds room. */
const PIECE = 16_384

/** UTF-8 length. A lone surrogate counts as the three bytes of U+FFFD, which is what an encoder writes for it. */
export function utf8Length(text: string): number {
  if (text.length < SHORT) return countUnits(text)
  scratch ??= new Uint8Array(3 * PIECE)
  let bytes = 0
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PIECE, text.length)
    // A pair is not cut.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
    const piece = end - at === text.length ? text : text.slice(at, end)
    bytes += encoder.encodeInto(piece, scratch).written
    at = end
  }
  return bytes
}

function countUnits(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else {
      bytes += 2
      if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
        const low = text.charCodeAt(i + 1)
        // A pair is four bytes for two units: 2 units + 2.
        if (low >= 0xdc00 && low < 0xe000) i++
      }
    }
  }
  return bytes
}

/** Whether a text has at most so many bytes. Counts only where the number of UTF-16 units leaves room for doubt. */
export function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes)
}

/** Bytes that a batch takes in the log: every line with its LF. */
export function batchBytes(lines: readonly string[]): number {
  let bytes = 0
  for (const line of lines) bytes += utf8Length(line) + 1
  return bytes
}

/**
 * Checks a batch: not empty; each line a non-empty well-formed string without LF, at most `maxLineBytes`; all of it at most
 * `maxBatchBytes`. Bytes are counted only where the number of UTF-16 units leaves room for doubt: a unit is at most 3 bytes.
 */
export function checkLines(
  lines: readonly string[],
  capabilities: Pick<Capabilities, "maxLineBytes" | "maxBatchBytes">,
): void {
  if (!Array.isArray(lines) || lines.length === 0) {
    throw new StorageError("invalid", "An append needs at least one line.")
  }
  let units = 0
  for (const [index, line] of lines.entries()) {
    if (typeof line !== "string" || line === "") {
      throw new StorageError("invalid", `Line ${index} of the batch is not a text.`)
    }
    if (line.includes("\n")) {
      throw new StorageError(
        "invalid",
        `Line ${index} of the batch contains a line feed, which is what separates lines.`,
      )
    }
    if (!isWellFormed(line)) {
      throw new StorageError(
        "invalid",
        `Line ${index} of the batch has a lone surrogate, which UTF-8 cannot hold; escape it.`,
      )
    }
    units += line.length + 1
    if (line.length * 3 > capabilities.maxLineBytes && utf8Length(line) > capabilities.maxLineBytes) {
      const bytes = utf8Length(line)
      throw new StorageError(
        "invalid",
        `Line ${index} has ${bytes} bytes; this storage takes ${capabilities.maxLineBytes}.`,
      )
    }
  }
  if (units * 3 > capabilities.maxBatchBytes && batchBytes(lines) > capabilities.maxBatchBytes) {
    const bytes = batchBytes(lines)
    throw new StorageError("invalid", `The batch has ${bytes} bytes; this storage takes ${capabilities.maxBatchBytes}.`)
  }
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Whether a text survives UTF-8: no lone surrogate. */
export function isWellFormed(text: string): boolean {
  const native = (text as { isWellFormed?: () => boolean }).isWellFormed
  return native === undefined ? !LONE_SURROGATE.test(text) : native.call(text)
}

export function checkAppendOptions(o: StorageAppendOptions): void {
  if (o === undefined || o === null || (o.expect !== 0 && !isHead(o.expect))) {
    throw new StorageError("invalid", "An append needs `expect`: the head it follows, or 0 to create the session.")
  }
  if (o.info !== undefined && (typeof o.info !== "string" || !fits(o.info, MAX_INFO_BYTES))) {
    throw new StorageError("invalid", `\`info\` must be a text of at most ${MAX_INFO_BYTES} bytes.`)
  }
}

export function isHead(head: unknown): head is Head {
  if (typeof head !== "object" || head === null) return false
  const { next, log } = head as Partial<Head>
  return Number.isSafeInteger(next) && (next as number) > 0 && typeof log === "string"
}

/** A range with its defaults filled in. With `maxBytes` it is a window: of these lines only the last ones that come to so many bytes. */
export interface CheckedRange {
  readonly from: Seq
  /** {@link Number.MAX_SAFE_INTEGER}: the end. */
  readonly to: Seq
  readonly maxBytes: number | undefined
  readonly log: string | undefined
}

export function checkRange(range: ReadRange = {}): CheckedRange {
  const { from, to, before, maxBytes, log } = range as Partial<
    Record<"from" | "to" | "before" | "maxBytes" | "log", unknown>
  >
  const number = (name: string, value: unknown, otherwise: number, least = 0): number => {
    if (value === undefined) return otherwise
    if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
    throw new StorageError(
      "invalid",
      `\`${name}\` of a range must be a whole number from ${least}, not ${String(value)}.`,
    )
  }
  if (log !== undefined && typeof log !== "string") {
    throw new StorageError("invalid", "`log` of a range must be a text: the `log` of a head.")
  }
  if (maxBytes === undefined) {
    if (before !== undefined)
      throw new StorageError("invalid", "`before` of a range needs `maxBytes`; use `to` without it.")
    return { from: number("from", from, 0), to: number("to", to, Number.MAX_SAFE_INTEGER), maxBytes, log }
  }
  if (from !== undefined || to !== undefined) {
    throw new StorageError("invalid", "A range has either `from` and `to`, or `before` and `maxBytes`.")
  }
  return {
    from: 0,
    to: number("before", before, Number.MAX_SAFE_INTEGER),
    maxBytes: number("maxBytes", maxBytes, 1, 1),
    log,
  }
}

/** `limit` is a whole number from 0; `after` a session id, and `unsupported` where the list is not ordered by id. */
export function checkListOptions(o: StorageListOptions, capabilities: Capabilities): void {
  if (o.limit !== undefined && !(Number.isSafeInteger(o.limit) && o.limit >= 0)) {
    throw new StorageError("invalid", `\`limit\` of a list must be a whole number from 0, not ${String(o.limit)}.`)
  }
  if (o.after === undefined) return
  if (capabilities.listOrder !== "id") {
    throw new StorageError("unsupported", "This storage lists the newest first and cannot go on after an id.")
  }
  checkSessionId(o.after)
}

/** A document is a text that survives UTF-8. */
export function checkDocText(text: unknown): asserts text is string {
  if (typeof text !== "string") throw new StorageError("invalid", "A document is a text.")
  if (!isWellFormed(text)) {
    throw new StorageError("invalid", "The document has a lone surrogate, which UTF-8 cannot hold; escape it.")
  }
}

/** A document key in its two shapes; throws `invalid` for anything else. */
export function parseDocKey(key: string): { readonly session?: string; readonly name: string } {
  const parts = typeof key === "string" ? key.split("/") : []
  const name = parts.at(-1) ?? ""
  const named = DOC_NAME.test(name) && !name.includes("..") && !name.endsWith(".")
  if (named && parts.length === 1) return { name }
  if (named && parts.length === 3 && parts[0] === "sessions" && isSessionId(parts[1]))
    return { session: parts[1], name }
  throw new StorageError(
    "invalid",
    `${JSON.stringify(key)} is not a document key: use "<name>" or "sessions/<id>/<name>", with 1 to 64 of A-Z a-z 0-9 . _ - in the name.`,
  )
}

export function checkHash(hash: unknown): asserts hash is string {
  if (typeof hash === "string" && HASH.test(hash)) return
  throw new StorageError("invalid", "A blob is named by the 64 lower-case hex digits of its SHA-256.")
}

/** Throws `aborted` where the signal has fired: before a write was sent, nothing of it will be. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new StorageError("aborted", "The call was aborted before anything was sent.", { cause: signal.reason })
  }
}
