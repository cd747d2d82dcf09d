import { isWellFormed } from "../storage/checks.ts"

/** The offset of the first byte that is not UTF-8, or -1: the start of the sequence that is wrong or cut short. */
export function firstBadByte(bytes: Uint8Array): number {
  let i = 0
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i)
    if (length === 0) return i
    i += length
  }
  return -1
}

/** UTF-8, but a lone surrogate as the three bytes that it would have there, which no decoder takes for a character. */
export function wtf8(text: string): Uint8Array {
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

/** How many bytes the character at `i` has; 0 where there is none. Unicode 17, table 3-7. */
function sequenceLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i] ?? 0
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = bytes[i + 1] ?? 0
  if (second < low || second > high) return 0
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let k = 2; k < length; k++) {
    if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return 0
  }
  return length
}
