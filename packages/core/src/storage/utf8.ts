/** Texts as UTF-8: their length in bytes, whether they can be encoded, encoding and decoding. */
import { StorageError } from "./errors.ts"

const encoder = new TextEncoder()
// Without `ignoreBOM` a BOM at the start of a line would vanish; without `fatal` invalid bytes would become U+FFFD.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Texts are encoded into this buffer to measure them: the engine's encoder is a hundred times faster than a loop over characters. */
let scratch: Uint8Array | undefined
/** UTF-16 units that one call encodes. Chromium copies the whole text at each call, even if only its start fits the buffer. */
const SLICE = 16_384

/** UTF-8 length in bytes. A lone surrogate counts as the three bytes of U+FFFD, which encoders write for it. */
export function utf8Length(text: string): number {
  scratch ??= new Uint8Array(3 * SLICE)
  let bytes = 0
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + SLICE, text.length)
    // Never split a surrogate pair.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
    const slice = end - at === text.length ? text : text.slice(at, end)
    bytes += encoder.encodeInto(slice, scratch).written
    at = end
  }
  return bytes
}

/** Whether a text has at most `maxBytes` bytes. Counts them only if the number of UTF-16 units does not decide it. */
export function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes)
}

/** Bytes of a batch in the log: every line with its LF. */
export function batchBytes(lines: readonly string[]): number {
  let bytes = 0
  for (const line of lines) bytes += utf8Length(line) + 1
  return bytes
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Whether a text has no lone surrogate, so that UTF-8 can encode it. */
export function isWellFormed(text: string): boolean {
  const native = (text as { isWellFormed?: () => boolean }).isWellFormed
  return native === undefined ? !LONE_SURROGATE.test(text) : native.call(text)
}

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Throws `corrupt` if the bytes are not UTF-8. `at` is their path, key or row. */
export function fromUtf8(bytes: Uint8Array, at: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const message = `The data at ${at} is not UTF-8: restore it from a backup, or delete the session.`
    throw new StorageError("corrupt", message, { at, cause })
  }
}
