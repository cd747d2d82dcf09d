/** Decodes the bytes of whole lines. */
import { isAscii, isUtf8 } from "node:buffer"

/**
 * Returns the lines, or undefined if the bytes are not UTF-8. The last line has no LF; a BOM and CRs are content. The buffer is
 * reused after the call.
 */
export type DecodeLines = (bytes: Uint8Array) => string[] | undefined

/**
 * A text is decoded in runs and then split, several times faster than line by line. A run is ASCII or small, so that one emoji does not make
 * 256 KB of text take two bytes per character; and none is a large object of the engine (from 128 KB), for which V8 takes new memory from the
 * system each time: reading a log took two to three times as long.
 */
export const decodeLines: DecodeLines = (piece) => {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  const isPlain = isAscii(bytes)
  if (!isPlain && !isUtf8(bytes)) return undefined
  const lines: string[] = []
  decodeInto(lines, bytes, isPlain)
  return lines
}

/** The offset of the first line that is not UTF-8. */
export function findBroken(bytes: Buffer): number {
  let start = 0
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return start
    start = end + 1
  }
  return start
}

/** How many lines there are, and those after the last one that is not UTF-8. */
export function linesAfterBroken(
  bytes: Buffer,
  decodeLines: DecodeLines,
): { readonly count: number; readonly after: readonly string[] } {
  let count = 1
  let start = 0
  let after: number | undefined = 0
  for (;;) {
    const lf = bytes.indexOf(LF, start)
    const end = lf < 0 ? bytes.length : lf
    if (!isUtf8(bytes.subarray(start, end))) after = lf < 0 ? undefined : lf + 1
    if (lf < 0) break
    start = lf + 1
    count++
  }
  return { count, after: after === undefined ? [] : (decodeLines(bytes.subarray(after)) ?? []) }
}

const LF = 10

/** Below this size, checking for ASCII costs more than it saves. */
const RUN_BYTES = 32_768

function decodeInto(lines: string[], bytes: Buffer, isPlain: boolean): void {
  const middle = bytes.length > RUN_BYTES ? bytes.indexOf(LF, bytes.length >> 1) : -1
  if (middle < 0) {
    for (const line of bytes.toString(isPlain ? "latin1" : "utf8").split("\n")) lines.push(line)
    return
  }
  for (const half of [bytes.subarray(0, middle), bytes.subarray(middle + 1)])
    decodeInto(lines, half, isPlain || isAscii(half))
}
