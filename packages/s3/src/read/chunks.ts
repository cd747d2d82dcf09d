/** Decodes the bytes of a segment into lines, and groups lines into the chunks that a read yields. */
import { type Chunk, MAX_CHUNK_BYTES, type Seq, utf8Length } from "@sessions/core/storage"
import { decodeUtf8 } from "../base/utf8.ts"

export interface DecodedLines {
  readonly lines: readonly string[]
  /** How many lines before these end with one that is not UTF-8, or has no LF. */
  readonly broken: number
}

/** Yields the lines as their bytes arrive, at most MAX_CHUNK_BYTES at a time unless one line is longer. */
export async function* decodeLines(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<DecodedLines, void, undefined> {
  let held: Uint8Array[] = []
  let length = 0
  for await (const part of parts) {
    held.push(part)
    length += part.length
    // Without an LF in this part no line ends: joining the parts each time would be quadratic.
    if (length < MAX_CHUNK_BYTES || !part.includes(10)) continue
    let bytes = concat(held, length)
    for (let end = cutOf(bytes); end !== undefined; end = bytes.length < MAX_CHUNK_BYTES ? undefined : cutOf(bytes)) {
      yield toLines(bytes.subarray(0, end))
      bytes = bytes.subarray(end)
    }
    held = [bytes]
    length = bytes.length
  }
  let rest = concat(held, length)
  while (rest.length > 0) {
    const end = cutOf(rest) ?? rest.length
    yield toLines(rest.subarray(0, end))
    rest = rest.subarray(end)
  }
}

/** Groups lines in memory into chunks. */
export function* toChunks(lines: readonly string[], seq: Seq): Generator<Chunk, void, undefined> {
  let from = 0
  let bytes = 0
  for (const [n, line] of lines.entries()) {
    bytes += utf8Length(line) + 1
    if (n === from || bytes <= MAX_CHUNK_BYTES) continue
    yield { from: seq + from, lines: lines.slice(from, n) }
    from = n
    bytes = utf8Length(line) + 1
  }
  if (from < lines.length) yield { from: seq + from, lines: lines.slice(from) }
}

/** The lines, of which the first has `seq`, that lie between `from` and `to`. Undefined if there are none. */
export function sliceLines(lines: readonly string[], seq: Seq, from: Seq, to: Seq): Chunk | undefined {
  const first = Math.max(0, from - seq)
  const end = Math.min(lines.length, to - seq)
  if (first >= end) return undefined
  return { from: seq + first, lines: first === 0 && end === lines.length ? lines : lines.slice(first, end) }
}

/** After the last LF that fits into a chunk; else after the first LF. */
function cutOf(bytes: Uint8Array): number | undefined {
  const fitting = bytes.length <= MAX_CHUNK_BYTES ? bytes.lastIndexOf(10) : bytes.lastIndexOf(10, MAX_CHUNK_BYTES - 1)
  const cut = fitting === -1 ? bytes.indexOf(10, MAX_CHUNK_BYTES) : fitting
  return cut === -1 ? undefined : cut + 1
}

function toLines(bytes: Uint8Array): DecodedLines {
  const text = decodeUtf8(bytes)
  if (text?.endsWith("\n") === true) return { lines: text.slice(0, -1).split("\n"), broken: 0 }
  let broken = 0
  let lines: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(10, start)
    const line = lf === -1 ? undefined : decodeUtf8(bytes.subarray(start, lf))
    if (line !== undefined) lines.push(line)
    else {
      broken += lines.length + 1
      lines = []
    }
    start = lf === -1 ? bytes.length : lf + 1
  }
  return { lines, broken }
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
