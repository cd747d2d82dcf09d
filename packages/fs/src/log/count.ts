/** Finds where lines start by counting line feeds. The only module that derives a seq from bytes. */
import type { Seq } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { type LineOffset, INDEX_INTERVAL_BYTES } from "./sparse-index.ts"

export interface CountRange {
  /** A line's start. */
  readonly start: LineOffset
  /** Bytes from here on are not read. */
  readonly end: number
  /** Stop at the start of this line. */
  readonly until?: Seq
}

/**
 * The offset behind the last whole line before `end`, or that of line `until`. Adds to `offsets` about every 256 KB, if given; its
 * last element must not be behind `start`.
 */
export function countLines(files: Files, fd: number, range: CountRange, offsets?: LineOffset[]): LineOffset {
  const until = range.until ?? Number.MAX_SAFE_INTEGER
  let { offset, seq } = range.start
  let marked = offsets?.at(-1)?.offset ?? 0
  let at = offset
  // A line is often near; the end is as far as it is.
  let size = range.until === undefined ? piece.length : NEAR_BYTES
  const largest = range.until === undefined ? piece.length : BACK_BYTES
  while (at < range.end && seq < until) {
    const count = files.read(fd, piece, 0, Math.min(size, range.end - at), at)
    if (count === 0) break
    size = Math.min(size * 4, largest)
    for (let found = piece.indexOf(LF); found >= 0 && found < count; found = piece.indexOf(LF, found + 1)) {
      offset = at + found + 1
      seq++
      if (seq >= until) return { offset, seq }
      if (offsets !== undefined && offset - marked >= INDEX_INTERVAL_BYTES) {
        offsets.push({ offset, seq })
        marked = offset
      }
    }
    at += count
  }
  return { offset, seq }
}

/** A batch of whole lines: the first `length` bytes of `buffer`. */
export interface EncodedLines {
  readonly lines: readonly string[]
  readonly buffer: Uint8Array
  readonly length: number
}

/** Adds the line offsets due within a batch that was just written at byte `start`, where line `seq` starts. */
export function indexBatch(
  offsets: LineOffset[],
  start: number,
  seq: Seq,
  { lines, buffer, length }: EncodedLines,
): void {
  let last = offsets.at(-1)?.offset ?? 0
  if (start - last >= INDEX_INTERVAL_BYTES) {
    offsets.push({ offset: start, seq })
    last = start
  }
  if (start + length - last < INDEX_INTERVAL_BYTES) return
  let found = -1
  for (let line = 1; line < lines.length; line++) {
    found = buffer.indexOf(LF, found + 1)
    const offset = start + found + 1
    if (offset - last < INDEX_INTERVAL_BYTES) continue
    offsets.push({ offset, seq: seq + line })
    last = offset
  }
}

/**
 * The byte where the `count` whole lines before `end` start. Undefined if there are fewer after `start`, which must be the start of
 * a line. Reads blocks of doubling size from the end.
 */
export function findBack(files: Files, fd: number, start: number, end: number, count: number): number | undefined {
  let size = BACK_BYTES
  let high = end
  // Counts the line feed that ends the last line, too.
  let missing = count + 1
  while (high > start) {
    const low = Math.max(start, high - size)
    const have = readPiece(files, fd, low, high)
    for (let found = have.lastIndexOf(LF); found >= 0; found = found === 0 ? -1 : have.lastIndexOf(LF, found - 1)) {
      missing--
      if (missing === 0) return low + found + 1
    }
    high = low
    size = Math.min(size * 2, piece.length)
  }
  // The first line of the range has no line feed before it.
  return missing === 1 ? start : undefined
}

/**
 * The first line that starts at or after byte `low`, which is above 0: counted back from `known`, a line that does, too. Reads the bytes
 * between the two.
 */
export function firstLineFrom(files: Files, fd: number, low: number, known: LineOffset): LineOffset {
  let { offset, seq } = known
  // A line starts after each LF; the one directly before `known` is that line's own.
  const least = low - 1
  for (let high = known.offset - 1; high > least; ) {
    const at = Math.max(least, high - piece.length)
    const have = readPiece(files, fd, at, high)
    for (let found = have.lastIndexOf(LF); found >= 0; found = found === 0 ? -1 : have.lastIndexOf(LF, found - 1)) {
      offset = at + found + 1
      seq--
    }
    high = at
  }
  return { offset, seq }
}

const LF = 10
const NEAR_BYTES = 16_384
const BACK_BYTES = 65_536
const PIECE_BYTES = 262_144
/** Shared: no `await` happens while it is in use. */
const piece = new Uint8Array(PIECE_BYTES)

function readPiece(files: Files, fd: number, low: number, high: number): Uint8Array {
  let have = 0
  while (have < high - low) {
    const count = files.read(fd, piece, have, high - low - have, low + have)
    if (count === 0) break
    have += count
  }
  return piece.subarray(0, have)
}
