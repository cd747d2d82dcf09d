/** Bytes of whole lines as texts. */
import { isAscii, isUtf8 } from "node:buffer"

/**
 * From the bytes of whole lines, the last one without its LF, to their texts; undefined where they are not UTF-8. A BOM and CRs are
 * content like any other. The bytes are used again afterwards.
 */
export type DecodeLines = (bytes: Uint8Array) => string[] | undefined

/**
 * Runs of ASCII are decoded as a whole and then split, which is several times faster than line by line; elsewhere a few lines at a
 * time are, so that one emoji does not make 256 KB of text twice as large.
 */
export const decodeLines: DecodeLines = (piece) => {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  if (isAscii(bytes)) return bytes.toString("latin1").split("\n")
  if (!isUtf8(bytes)) return undefined
  const lines: string[] = []
  decodeInto(lines, bytes)
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

const LF = 10

/** Below this, looking for ASCII costs more than it saves, and what an emoji costs is bounded. */
const RUN_BYTES = 32_768

function decodeInto(lines: string[], bytes: Buffer): void {
  const middle = bytes.length > RUN_BYTES ? bytes.indexOf(LF, bytes.length >> 1) : -1
  if (middle < 0) {
    for (const line of bytes.toString("utf8").split("\n")) lines.push(line)
    return
  }
  for (const half of [bytes.subarray(0, middle), bytes.subarray(middle + 1)]) {
    if (!isAscii(half)) decodeInto(lines, half)
    else for (const line of half.toString("latin1").split("\n")) lines.push(line)
  }
}
