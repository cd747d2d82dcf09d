/** From bytes to chunks of lines. */
import type { Chunk, Seq } from "@sessions/core/storage"
import { MAX_CHUNK_BYTES, utf8Length } from "@sessions/core/storage"
import { decode } from "../format/tail.ts"

/** Lines as they come, in portions of at most a chunk unless a line is longer. Undefined for bytes that are not UTF-8, or do not end in LF. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<readonly string[] | undefined, void, undefined> {
  let held: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    held.push(piece)
    length += piece.length
    // In the middle of a long line there is nothing to look for but its end.
    if (length < MAX_CHUNK_BYTES || !piece.includes(10)) continue
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

/** Lines in memory, as chunks. */
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

/** What of some lines lies in a range. */
export function within(lines: readonly string[], seq: Seq, from: Seq, to: Seq): Chunk | undefined {
  const first = Math.max(0, from - seq)
  const end = Math.min(lines.length, to - seq)
  if (first >= end) return undefined
  return { from: seq + first, lines: first === 0 && end === lines.length ? lines : lines.slice(first, end) }
}

/** Behind the last LF that fits a chunk; else behind the first there is. */
function cutOf(bytes: Uint8Array): number | undefined {
  const fitting = bytes.length <= MAX_CHUNK_BYTES ? bytes.lastIndexOf(10) : bytes.lastIndexOf(10, MAX_CHUNK_BYTES - 1)
  const cut = fitting === -1 ? bytes.indexOf(10, MAX_CHUNK_BYTES) : fitting
  return cut === -1 ? undefined : cut + 1
}

function toLines(bytes: Uint8Array): readonly string[] | undefined {
  const text = decode(bytes)
  if (text === undefined || !text.endsWith("\n")) return undefined
  return text.slice(0, -1).split("\n")
}

function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
