/** The next tail: which lines stay, which are sealed, which segments become one. Pure. */
import type { AppendOptions, Seq } from "@sessions/core/storage"
import { batchBytes, utf8Length } from "@sessions/core/storage"
import type { Settings } from "../base/settings.ts"
import type { Manifest, Segment } from "../format/manifest.ts"
import { KEPT_WRITES, linesOfSegment, MAX_LINE0_BYTES } from "../format/manifest.ts"

export interface Batch {
  readonly lines: readonly string[]
  readonly bytes: number
  readonly expect: AppendOptions["expect"]
  readonly info: string | undefined
  /** What its writer knows it by. */
  readonly token: string
}

/** Lines that leave the tail: each group becomes a segment, of pieces of about the same size. */
export interface Sealed {
  readonly from: Seq
  readonly pieces: readonly Piece[]
}

export interface Piece {
  readonly lines: readonly string[]
  readonly bytes: number
}

/**
 * The oldest lines, where all of them are too many for a tail: in whole pieces, so that segments have one size, and at least
 * `keptBytes` stay. A line that is longer than a whole tail does not stay: every later append would write it again.
 */
export function planSeal(lines: readonly string[], bytes: number, from: Seq, settings: Settings): Sealed[] {
  const { tailBytes, keptBytes, segmentBytes, mergedBytes } = settings
  const groups: { from: Seq; bytes: number; pieces: Piece[] }[] = []
  let rest = bytes
  if (rest <= tailBytes) return []
  for (let at = 0; at < lines.length; ) {
    const piece = nextPiece(lines, at, segmentBytes)
    if (rest <= tailBytes && rest - piece.bytes < keptBytes) break
    const last = groups.at(-1)
    if (last !== undefined && last.bytes + piece.bytes <= mergedBytes) {
      last.pieces.push(piece)
      last.bytes += piece.bytes
    } else groups.push({ from: from + at, bytes: piece.bytes, pieces: [piece] })
    rest -= piece.bytes
    at += piece.lines.length
  }
  return groups
}

function nextPiece(lines: readonly string[], at: number, limit: number): Piece {
  let bytes = 0
  let to = at
  for (; to < lines.length; to++) {
    const more = utf8Length(lines[to] as string) + 1
    if (to > at && bytes + more > limit) break
    bytes += more
  }
  return { lines: lines.slice(at, to), bytes }
}

/**
 * The small segments at the log's end that should become one: from so many on that together they make a large one. The oldest of
 * them, as many as a large one holds.
 */
export function planMerge(segments: readonly Segment[], { mergedBytes, segmentBytes }: Settings): readonly Segment[] {
  let first = segments.length
  while (first > 0 && (segments[first - 1] as Segment).bytes <= mergedBytes / 2) first--
  const small = segments.slice(first)
  if (small.length < Math.floor(mergedBytes / segmentBytes)) return []
  const merged: Segment[] = []
  let bytes = 0
  for (const segment of small) {
    if (bytes + segment.bytes > mergedBytes) break
    merged.push(segment)
    bytes += segment.bytes
  }
  return merged.length < 2 ? [] : merged
}

/** One segment in the place of several that follow each other; undefined where these are not all there any more. */
export function withMerged(
  segments: readonly Segment[],
  merged: readonly Segment[],
  into: Segment,
): readonly Segment[] | undefined {
  const at = segments.findIndex(({ name }) => name === merged[0]?.name)
  if (at === -1 || merged.some(({ name }, n) => segments[at + n]?.name !== name)) return undefined
  return [...segments.slice(0, at), into, ...segments.slice(at + merged.length)]
}

/** The manifest after a batch. `base` is that of the log it follows, or what a new log begins with. */
export function nextManifest(base: Manifest, batch: Batch, sealed: readonly Segment[]): Manifest {
  const { at: _at, ...kept } = base
  const first = batch.lines[0] as string
  const line0 = base.next === 0 && first.length <= MAX_LINE0_BYTES ? { line0: first } : {}
  const next = base.next + batch.lines.length
  return {
    ...kept,
    ...line0,
    next,
    bytes: base.bytes + batch.bytes,
    from: base.from + sealed.reduce((sum, segment) => sum + linesOfSegment(segment), 0),
    ...(batch.info !== undefined && { info: { text: batch.info, next } }),
    writes: [...base.writes, [base.next, batch.token] as const].slice(-KEPT_WRITES),
    segments: [...base.segments, ...sealed],
  }
}

/** What a log that is to be made begins with. */
export function emptyManifest(log: string, life: string, etags: Manifest["etags"]): Manifest {
  return { log, life, next: 0, bytes: 0, from: 0, etags, fence: 0, writes: [], segments: [] }
}

export function toBatch(lines: readonly string[], o: Pick<Batch, "expect" | "info" | "token">): Batch {
  return { lines, bytes: batchBytes(lines), ...o }
}
