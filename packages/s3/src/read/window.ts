/**
 * Reads a window of a log: the last lines before a seq that come to some bytes. The manifest has the sizes of the blocks in the segments,
 * so only the lines of the first block have to be counted, and those of the last one if the window ends within it.
 */
import { afterDamage, type Seq, utf8Length } from "@sessions/core/storage"
import type { LiveTail } from "../format/tail.ts"
import { toChunks } from "./chunks.ts"
import { cacheBlock, cachedBlock, fetchRanges, type SegmentReader } from "./fetch-ranges.ts"
import { isSnapshotRead, type ReadChunk, segmentLines } from "./segment-lines.ts"
import { blocksOf, planRanges, type SegmentRange } from "./segment-ranges.ts"

export function windowOf(
  reader: SegmentReader,
  tail: LiveTail,
  to: Seq,
  maxBytes: number,
): AsyncGenerator<ReadChunk, void, undefined> {
  return afterDamage(stepsOf(reader, tail, to, maxBytes), maxBytes)
}

async function* stepsOf(
  reader: SegmentReader,
  { manifest, lines }: LiveTail,
  to: Seq,
  maxBytes: number,
): AsyncGenerator<ReadChunk, void, undefined> {
  const border = Math.min(to, manifest.from)
  const inTail = lines.slice(0, to - border)
  const { start, bytes } = lastFitting(inTail, maxBytes, 1)
  if (start === 0 && border > 0 && bytes < maxBytes) {
    const blocks = manifest.segments.flatMap(blocksOf).filter(({ seq }) => seq < border)
    yield* sealedSteps(reader, blocks, border, maxBytes - bytes, to > border ? 0 : 1)
  }
  for (const chunk of toChunks(inTail.slice(start), border + start)) yield { chunk, afterYield: false }
}

/** The window in the blocks, which hold the lines before `to`, of at least `least` lines. */
async function* sealedSteps(
  reader: SegmentReader,
  blocks: readonly SegmentRange[],
  to: Seq,
  maxBytes: number,
  least: number,
): AsyncGenerator<ReadChunk, void, undefined> {
  const segments = [...new Set(blocks.map(({ segment }) => segment))]
  let left = maxBytes
  let first = blocks.length - 1
  let size = await bytesBefore(reader, blocks, to, maxBytes)
  while (first >= 0 && size <= left) {
    left -= size
    first--
    size = blocks[first]?.bytes ?? 0
  }
  const partial = blocks[first]
  const isLast = first === blocks.length - 1
  const leastInPartial = isLast ? least : 0
  // A line that does not fit is not fetched.
  if (partial === undefined || left === 0 || (partial.lines === 1 && leastInPartial === 0)) {
    const from = blocks[first + 1]?.seq ?? to
    if (from < to) yield* segmentLines(reader, planRanges(segments, from, to), from, to)
    return
  }
  const steps = segmentLines(reader, planRanges(segments, partial.seq, to), partial.seq, to)
  yield* cutFirst(reader, steps, partial, Math.min(to, partial.seq + partial.lines), left, leastInPartial)
}

/** Of the steps' lines before `end`, which are those of the block, only the last ones that fit into `maxBytes`. */
async function* cutFirst(
  reader: SegmentReader,
  steps: AsyncIterable<ReadChunk>,
  block: SegmentRange,
  end: Seq,
  maxBytes: number,
  least: number,
): AsyncGenerator<ReadChunk, void, undefined> {
  let held: string[] = []
  for await (const { chunk, afterYield, damage } of steps) {
    const { from, lines } = chunk
    if (damage !== undefined) {
      held = []
      yield { chunk: { from, lines: [] }, afterYield, damage }
    }
    const inBlock = Math.max(0, Math.min(lines.length, end - from))
    for (const line of lines.slice(0, inBlock)) held.push(line)
    if (inBlock > 0 && from + inBlock === end) {
      // The next window ends here.
      if (held.length === block.lines) cacheBlock(reader, block, held)
      const { start } = lastFitting(held, maxBytes, least)
      for (const kept of toChunks(held.slice(start), end - held.length + start)) yield { chunk: kept, afterYield }
    }
    if (inBlock < lines.length) yield { chunk: { from: from + inBlock, lines: lines.slice(inBlock) }, afterYield }
  }
}

/**
 * The bytes of the last block's lines before `to`. Fetches the block if `to` is within it, together with the blocks before it that the
 * window may need, so that a small window takes no more requests than if it were known.
 */
async function bytesBefore(
  reader: SegmentReader,
  blocks: readonly SegmentRange[],
  to: Seq,
  maxBytes: number,
): Promise<number> {
  const last = blocks.at(-1)
  if (last === undefined) return 0
  if (to === last.seq + last.lines) return last.bytes
  let content = cachedBlock(reader, last)
  if (content === undefined) {
    let from = blocks.length - 1
    for (let bytes = 0; from > 0 && bytes < maxBytes; from--) bytes += blocks[from - 1]?.bytes ?? 0
    const wanted = isSnapshotRead(reader.deps, maxBytes) ? blocks.slice(from) : [last]
    const segments = [...new Set(wanted.map(({ segment }) => segment))]
    const ranges = planRanges(segments, wanted[0]?.seq ?? to, to)
    const contents = await fetchRanges(reader, ranges)
    content = contents.at(-1)?.at(-1) as Uint8Array
  }
  let end = 0
  for (let line = last.seq; line < to; line++) end = content.indexOf(10, end) + 1
  return end
}

/** The last lines that come to at most `maxBytes`, but at least `least` lines. */
function lastFitting(
  lines: readonly string[],
  maxBytes: number,
  least: number,
): { readonly start: number; readonly bytes: number } {
  let start = lines.length
  let bytes = 0
  while (start > 0) {
    const more = utf8Length(lines[start - 1] as string) + 1
    if (bytes + more > maxBytes && lines.length - start >= least) break
    bytes += more
    start--
  }
  return { start, bytes }
}
