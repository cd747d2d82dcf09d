/** From a seq to the byte where its line starts. */
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
 * The bytes of the lines from `from` to `to` (exclusive) of one part. Reads at most the 256 KB between two offsets for either end; the
 * part's own ends are known, what lies shortly before the end is found from there, and so is what lies beside the range before: a
 * log that is read backwards, piece by piece, would count the same lines again for each piece.
 */
export function locate(files: Files, fd: number, part: CountedPart, from: Seq, to: Seq): ByteRange {
  const end = to >= part.end.seq ? part.end.offset : toOffset(files, fd, part, to)
  const place = placeBefore(part, from)
  // Whichever way is shorter: on from the place, or back from the end, over what is about to be read anyway.
  const isNearEnd = to - from < from - place.seq
  const back = isNearEnd ? findBack(files, fd, place.offset, end, to - from) : undefined
  const start = back ?? toOffset(files, fd, part, from)
  found.set(part.end, [
    { seq: from, offset: start },
    { seq: to, offset: end },
  ])
  return { start, end }
}

/** The ends of the last range of a part, by its end. Its lines never move: a part that grew, was cut or replaced has another one. */
const found = new WeakMap<LineOffset, readonly [LineOffset, LineOffset]>()

function toOffset(files: Files, fd: number, part: CountedPart, seq: Seq): number {
  const start = placeBefore(part, seq)
  return start.seq === seq ? start.offset : countLines(files, fd, { start, end: part.end.offset, until: seq }).offset
}

/** The nearest place at or before a seq that is known. */
function placeBefore(part: CountedPart, seq: Seq): LineOffset {
  const line = offsetBefore(part.offsets, seq)
  return (found.get(part.end) ?? []).reduce(
    (best, place) => (place.seq <= seq && place.seq > best.seq ? place : best),
    line,
  )
}
