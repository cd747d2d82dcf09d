/** Finds the bytes of the segments that hold the lines between two seqs, by the block index in the manifest. Pure. */
import type { Seq } from "@sessions/core/storage"
import type { Segment } from "../format/manifest.ts"

/** Consecutive blocks of one segment. */
export interface SegmentRange {
  readonly segment: Segment
  /** Seq of the first line. */
  readonly seq: Seq
  readonly lines: number
  /** Offset in the segment, in bytes. */
  readonly at: number
  readonly bytes: number
}

/** The blocks that hold lines `from` up to, not including, `to`: one range per segment. */
export function planRanges(segments: readonly Segment[], from: Seq, to: Seq): SegmentRange[] {
  const ranges: SegmentRange[] = []
  for (const segment of segments) {
    const blocks = blocksOf(segment).filter(({ seq, lines }) => seq < to && seq + lines > from)
    const [first] = blocks
    if (first === undefined) continue
    const lines = blocks.reduce((sum, block) => sum + block.lines, 0)
    const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0)
    ranges.push({ segment, seq: first.seq, lines, at: first.at, bytes })
  }
  return ranges
}

/** Each block of the segment as a range of its own. */
export function blocksOf(segment: Segment): SegmentRange[] {
  let seq = segment.from
  let at = 0
  return segment.blocks.map(([lines, bytes]) => {
    const block = { segment, seq, lines, at, bytes }
    seq += lines
    at += bytes
    return block
  })
}
