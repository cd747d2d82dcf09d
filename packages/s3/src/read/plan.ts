/** Which bytes of which segments hold the lines from one seq to another. Pure. */
import type { Seq } from "@sessions/core/storage"
import type { Segment } from "../format/manifest.ts"

/** Pieces of one segment that follow each other. */
export interface Stretch {
  readonly segment: Segment
  /** Of its first line. */
  readonly seq: Seq
  readonly lines: number
  /** In the segment. */
  readonly at: number
  readonly bytes: number
}

/** The pieces that hold lines from `from` up to `to`: one stretch a segment. */
export function planStretches(segments: readonly Segment[], from: Seq, to: Seq): Stretch[] {
  const stretches: Stretch[] = []
  for (const segment of segments) {
    const pieces = piecesOf(segment).filter(({ seq, lines }) => seq < to && seq + lines > from)
    const [first] = pieces
    if (first === undefined) continue
    const lines = pieces.reduce((sum, piece) => sum + piece.lines, 0)
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
    stretches.push({ segment, seq: first.seq, lines, at: first.at, bytes })
  }
  return stretches
}

/** Its pieces, one by one. */
export function piecesOf(segment: Segment): Stretch[] {
  let seq = segment.from
  let at = 0
  return segment.pieces.map(([lines, bytes]) => {
    const piece = { segment, seq, lines, at, bytes }
    seq += lines
    at += bytes
    return piece
  })
}
