/** Finds the bytes of a range of lines within one part. */
import type { Seq } from "@sessions/core/storage"
import { countLines, findBack, firstLineFrom } from "./count.ts"
import type { Files } from "../disk/files.ts"
import { type LineOffset, offsetBefore } from "./sparse-index.ts"
import type { CountedPart, Part } from "./parts.ts"

/** The lines `from` to `to` (exclusive), and their bytes. */
export interface Window {
  readonly from: Seq
  readonly to: Seq
  readonly start: number
  readonly end: number
}

/**
 * The bytes of the lines `from` to `to` (exclusive), as far as the part has them. Reads at most the 256 KB between two indexed lines for
 * either end. Lines near the part's end are found from there, and lines beside the previous range from its ends: otherwise a log that is
 * read backwards would count the same lines again for each range.
 */
export function locate(files: Files, fd: number, part: CountedPart, from: Seq, until: Seq): Window {
  const to = Math.min(until, part.end.seq)
  const end = to === part.end.seq ? part.end.offset : toOffset(files, fd, part, to)
  if (from >= to) return { from, to: from, start: end, end }
  const place = placeBefore(part, from)
  // Counts in the shorter direction: forwards from a known line, or backwards over the bytes that are about to be read.
  const isNearEnd = to - from < from - place.seq
  const back = isNearEnd ? findBack(files, fd, place.offset, end, to - from) : undefined
  const start = back ?? toOffset(files, fd, part, from)
  found.set(part.end, [
    { seq: from, offset: start },
    { seq: to, offset: end },
  ])
  return { from, to, start, end }
}

/**
 * The bytes of the last lines of one part before `to` that come to at most `maxBytes`; empty if the last line is longer. Lines are counted
 * back to the first one from the nearest place after it that is known, or from the window's end, never on from the part's start.
 */
export function locateWindow(files: Files, fd: number, part: CountedPart, to: Seq, maxBytes: number): Window {
  const end = endOf(files, fd, part, to)
  const low = end - maxBytes
  const start = { offset: 0, seq: part.from }
  const first = low <= 0 ? start : orStart(part, firstLineFrom(files, fd, low, placeAfter(part, low, end, to)))
  found.set(part.end, [first, { seq: to, offset: end }])
  return { from: first.seq, to, start: first.offset, end }
}

/** The bytes of the last line of a part before `to`. */
export function locateLast(files: Files, fd: number, part: CountedPart, to: Seq): Window {
  const end = endOf(files, fd, part, to)
  const first = orStart(part, { offset: findBack(files, fd, 0, end, 1) ?? 0, seq: to - 1 })
  found.set(part.end, [first, { seq: to, offset: end }])
  return { from: first.seq, to, start: first.offset, end }
}

/**
 * A place that was counted back from the part's end. If it is at the part's first byte or first seq, and not at both, the part has other
 * lines than it should have. The lines from its start on are then more or fewer than those asked for, which the reader reports.
 */
function orStart(part: Part, place: LineOffset): LineOffset {
  return place.offset === 0 || place.seq <= part.from ? { offset: 0, seq: part.from } : place
}

/** Where the line before `to` ends, if that is known without reading. */
export function knownEnd(part: Part, to: Seq): number | undefined {
  if (to >= part.end.seq) return part.end.offset
  return [...(found.get(part.end) ?? []), ...(part.offsets ?? [])].find(({ seq }) => seq === to)?.offset
}

function endOf(files: Files, fd: number, part: CountedPart, to: Seq): number {
  const known = knownEnd(part, to)
  if (known !== undefined) return known
  const place = placeBefore(part, to)
  const { seq, offset } = part.end
  const back = seq - to < to - place.seq ? findBack(files, fd, place.offset, offset, seq - to) : undefined
  return back ?? countLines(files, fd, { start: place, end: offset, until: to }).offset
}

/** The nearest place at or after byte `low` that is known; else the end of the lines before `to`. */
function placeAfter(part: CountedPart, low: number, end: number, to: Seq): LineOffset {
  return [...(found.get(part.end) ?? []), ...part.offsets].reduce(
    (best, place) => (place.offset >= low && place.offset < best.offset ? place : best),
    { offset: end, seq: to },
  )
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
