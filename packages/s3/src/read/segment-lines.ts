/**
 * Yields the lines of ranges of segments in order. A small read fetches all of them before its first line; a larger one downloads several
 * in parallel.
 */
import { type Chunk, onAbort, type Seq } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { storageError } from "../requests/errors.ts"
import { segmentKey } from "../segments/segments.ts"
import { decodeLines, sliceLines } from "./chunks.ts"
import { type Download, startDownload } from "./download.ts"
import { fetchRanges, type SegmentReader } from "./fetch-ranges.ts"
import type { SegmentRange } from "./segment-ranges.ts"

export interface ReadChunk {
  readonly chunk: Chunk
  /** It was received after an earlier chunk had been yielded: the log may have been replaced in between. */
  readonly afterYield: boolean
  /** Lines before these are not UTF-8; there may be none after them. */
  readonly damage?: Error | undefined
}

/**
 * A read of at most this many segments' worth of bytes yields nothing before all of it has arrived. It then shows one state of
 * the log and needs no check at its end.
 */
const SNAPSHOT_SEGMENTS = 4

/** Whether so many bytes of segments are fetched before the first line is yielded. */
export function isSnapshotRead(deps: Deps, bytes: number): boolean {
  return bytes <= SNAPSHOT_SEGMENTS * deps.settings.segmentBytes
}

/** The lines from `from` up to, not including, `to` that the ranges hold. */
export async function* segmentLines(
  reader: SegmentReader,
  ranges: readonly SegmentRange[],
  from: Seq,
  to: Seq,
): AsyncGenerator<ReadChunk, void, undefined> {
  const bytes = ranges.reduce((sum, range) => sum + range.bytes, 0)
  if (!isSnapshotRead(reader.deps, bytes)) return yield* stream(reader, ranges, from, to)
  const contents = await fetchRanges(reader, ranges)
  for (const [n, range] of ranges.entries()) yield* parse(reader, range, contents[n] ?? [], from, to, () => false)
}

/** Downloads ranges in parallel, as many as fit into `readAheadBytes`, and yields their lines in order. */
async function* stream(
  reader: SegmentReader,
  ranges: readonly SegmentRange[],
  from: Seq,
  to: Seq,
): AsyncGenerator<ReadChunk, void, undefined> {
  const { deps, session, generation, signal } = reader
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  const off = signal === undefined ? undefined : onAbort(signal, abort)
  const queue: Download[] = []
  let started = 0
  // Starts small and grows with every range consumed, so that a reader that stops early has not requested the rest.
  let ahead = deps.settings.segmentBytes
  const fill = (): void => {
    let held = queue.reduce((sum, download) => sum + download.range.bytes, 0)
    for (let next = ranges[started]; next !== undefined; next = ranges[started]) {
      if (queue.length > 0 && held + next.bytes > Math.min(ahead, deps.settings.readAheadBytes)) return
      queue.push(startDownload(deps, session, generation, next, controller.signal))
      held += next.bytes
      started++
    }
  }
  try {
    for (let afterYield = false; started < ranges.length || queue.length > 0; ) {
      fill()
      const download = queue[0] as Download
      for await (const step of parse(reader, download.range, download.bytes(), from, to, () => afterYield)) {
        yield step
        afterYield = true
      }
      queue.shift()
      ahead *= 4
    }
  } finally {
    off?.()
    controller.abort()
  }
}

/** The chunks of a range. `corrupt` if it does not hold exactly the lines that the manifest counts. */
async function* parse(
  { deps, session, generation }: SegmentReader,
  range: SegmentRange,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  from: Seq,
  to: Seq,
  isAfterYield: () => boolean,
): AsyncGenerator<ReadChunk, void, undefined> {
  const key = segmentKey(deps, session, generation, range.segment)
  const damaged = (what: string): Error => {
    const message = `${key} ${what} (bytes ${range.at} to ${range.at + range.bytes}): it was changed from outside. Put back the object as it was.`
    return storageError(deps, "corrupt", message, { session, at: key })
  }
  let seq = range.seq
  for await (const { lines, broken } of decodeLines(bytes)) {
    const end = Math.min(to, range.seq + range.lines)
    seq += broken
    const chunk = sliceLines(lines, seq, from, end)
    // Invalid lines outside of the range that is read are not its concern.
    const isRead = broken > 0 && seq > from && seq - broken < end
    const damage = isRead ? damaged("has bytes that are not lines of UTF-8") : undefined
    if (chunk !== undefined || isRead) {
      yield { chunk: chunk ?? { from: seq, lines: [] }, afterYield: isAfterYield(), damage }
    }
    seq += lines.length
  }
  if (seq !== range.seq + range.lines) throw damaged(`has ${seq - range.seq} lines, not ${range.lines}`)
}
