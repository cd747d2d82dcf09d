/** Finds the bytes of a range of lines within one part. */
import type { Seq } from "@sessions/core/storage"
import { countLines, findBack } from "./count.ts"
import type { Files } from "../disk/files.ts"
import { type LineOffset, offsetBefore } from "./sparse-index.ts"
import type { CountedPart } from "./parts.ts"

export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The bytes of the lines `from` to `to` (exclusive). Reads at most the 256 KB between two indexed lines for either end. Lines near
 * the part's end are found from there, and lines beside the previous range from its ends: otherwise a log that is read backwards
 * would count the same lines again for each range.
 */
export function locate(files: Files, fd: number, part: CountedPart, from: Seq, to: Seq): ByteRange {
  const end = to >= part.end.seq ? part.end.offset : toOffset(files, fd, part, to)
  const place = placeBefore(part, from)
  // Counts in the shorter direction: forwards from a known line, or backwards over the bytes that are about to be read.
  const isNearEnd = to - from < from - place.seq
  const back = isNearEnd ? findBack(files, fd, place.offset, end, to - from) : undefined
  const start = back ?? toOffset(files, fd, part, from)
  found.set(part.end, [
    { seq: from, offset: start },
    { seq: to, offset: end },
  ])
  return { start, end }
}

/**
 * The ends of the last range of a part, keyed by the part's end. A part that grew, was cut or replaced has another end, so entries
 * never become stale.
 */
const found = new WeakMap<LineOffset, readonly [LineOffset, LineOffset]>()

function toOffset(files: Files, fd: number, part: CountedPart, seq: Seq): number {
  const start = placeBefore(part, seq)
  return start.seq === seq ? start.offset : countLines(files, fd, { start, end: part.end.offset, until: seq }).offset
}

/** The nearest known line at or before a seq. */
function placeBefore(part: CountedPart, seq: Seq): LineOffset {
  const line = offsetBefore(part.offsets, seq)
  return (found.get(part.end) ?? []).reduce(
    (best, place) => (place.seq <= seq && place.seq > best.seq ? place : best),
    line,
  )
}
