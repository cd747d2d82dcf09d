/**
 * Reads a range of a log: sealed lines from its segments, several of them in parallel but in order, then the lines in the tail.
 * If segments are merged or the tail moves on during the read, it continues by seq with the newest manifest.
 */
import type { CheckedRange, Chunk, Seq } from "@sessions/core/storage"
import { checkSignal, rangeIn } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import type { LruCache } from "../base/lru-cache.ts"
import type { LiveTail } from "../format/tail.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { ObjectChangedError } from "../requests/open-object.ts"
import type { Backoff } from "../requests/retry.ts"
import { startBackoff } from "../requests/retry.ts"
import { segmentKey } from "../segments/segments.ts"
import type { TailCache } from "../tail/tail-cache.ts"
import { decodeLines, sliceLines, toChunks } from "./chunks.ts"
import type { Download } from "./download.ts"
import { SegmentMissingError, startDownload } from "./download.ts"
import { fetchRanges } from "./fetch-ranges.ts"
import type { SegmentRange } from "./segment-ranges.ts"
import { planRanges } from "./segment-ranges.ts"

export interface ReadDeps extends Deps {
  readonly tails: TailCache
  /** Blocks of segments, by key and offset. */
  readonly blocks: LruCache<Uint8Array>
}

/**
 * A read of at most this many segments' worth of bytes yields nothing before all of it has arrived. It then shows one state of
 * the log and needs no check at its end.
 */
const SNAPSHOT_SEGMENTS = 4

export async function* readLog(
  deps: ReadDeps,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const { tails } = deps
  const end = range.last === undefined ? range.to : range.before
  const found = tails.fresh(session, end) ?? (await tails.fetch(session, signal))
  if (found.kind !== "live") return
  let tail: LiveTail = found
  const { from: first, to } = rangeIn(range, tail.manifest.next)
  let from = first
  let backoff: Backoff | undefined
  let isSnapshot = true
  for (;;) {
    try {
      for await (const { chunk, afterYield } of chunksOf(deps, session, tail, from, to, signal)) {
        checkSignal(signal)
        isSnapshot &&= !afterYield
        from = chunk.from + chunk.lines.length
        // Patience limits the time without progress, not the time that the consumer takes.
        backoff = undefined
        yield chunk
      }
      break
    } catch (error) {
      const moved = error instanceof SegmentMissingError || error instanceof ObjectChangedError
      if (!moved) throw toStorageError(deps, error, `read ${session}`, { session })
      const now = await fetchSameLog(deps, session, tail, signal)
      // The adapter never removes a segment that the newest tail names.
      if (now.etag === tail.etag) throw segmentLost(deps, session, error)
      tail = now
      backoff ??= startBackoff(deps)
      if (!(await backoff.pause(error, signal))) throw rewrittenTooFast(deps, session)
    }
  }
  if (!isSnapshot) await fetchSameLog(deps, session, tail, signal)
}

interface ReadChunk {
  readonly chunk: Chunk
  /** It was received after an earlier chunk had been yielded: the log may have been replaced in between. */
  readonly afterYield: boolean
}

async function* chunksOf(
  deps: ReadDeps,
  session: string,
  tail: LiveTail,
  from: Seq,
  to: Seq,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadChunk, void, undefined> {
  const { manifest, lines } = tail
  if (manifest.line0 !== undefined && from === 0 && to === 1) {
    yield { chunk: { from: 0, lines: [manifest.line0] }, afterYield: false }
    return
  }
  const ranges = planRanges(manifest.segments, from, to)
  const bytes = ranges.reduce((sum, range) => sum + range.bytes, 0)
  if (bytes <= SNAPSHOT_SEGMENTS * deps.settings.segmentBytes) {
    const contents = await fetchRanges(deps, deps.blocks, session, manifest.generation, ranges, signal)
    for (const [n, range] of ranges.entries()) {
      for await (const chunk of parse(deps, session, manifest.generation, range, contents[n] ?? [], from, to)) {
        yield { chunk, afterYield: false }
      }
    }
  } else yield* stream(deps, session, manifest.generation, ranges, from, to, signal)
  const rest = sliceLines(lines, manifest.from, from, to)
  if (rest === undefined) return
  for (const chunk of toChunks(rest.lines, rest.from)) yield { chunk, afterYield: false }
}

/** Downloads ranges in parallel, as many as fit into `readAheadBytes`, and yields their lines in order. */
async function* stream(
  deps: ReadDeps,
  session: string,
  generation: string,
  ranges: readonly SegmentRange[],
  from: Seq,
  to: Seq,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadChunk, void, undefined> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener("abort", abort)
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
      for await (const chunk of parse(deps, session, generation, download.range, download.bytes(), from, to)) {
        yield { chunk, afterYield }
        afterYield = true
      }
      queue.shift()
      ahead *= 4
    }
  } finally {
    signal?.removeEventListener("abort", abort)
    controller.abort()
  }
}

/** The chunks of a range. `corrupt` if it does not hold exactly the lines that the manifest counts. */
async function* parse(
  deps: ReadDeps,
  session: string,
  generation: string,
  range: SegmentRange,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  from: Seq,
  to: Seq,
): AsyncGenerator<Chunk, void, undefined> {
  const key = segmentKey(deps, session, generation, range.segment)
  const damaged = (what: string): Error => {
    const message = `${key} ${what} (bytes ${range.at} to ${range.at + range.bytes}): it was changed from outside. Put back the object as it was.`
    return storageError(deps, "corrupt", message, { session, at: key })
  }
  let seq = range.seq
  for await (const lines of decodeLines(bytes)) {
    if (lines === undefined) throw damaged("has bytes that are not lines of UTF-8")
    const chunk = sliceLines(lines, seq, from, Math.min(to, range.seq + range.lines))
    seq += lines.length
    if (chunk !== undefined) yield chunk
  }
  if (seq !== range.seq + range.lines) throw damaged(`has ${seq - range.seq} lines, not ${range.lines}`)
}

/** The newest tail of the log. `conflict` if the session has been deleted or has another log by now. */
async function fetchSameLog(
  deps: ReadDeps,
  session: string,
  { manifest }: LiveTail,
  signal: AbortSignal | undefined,
): Promise<LiveTail> {
  const now = await deps.tails.fetch(session, signal)
  if (now.kind === "live" && now.manifest.log === manifest.log) return now
  const message = `The log of ${session} was deleted or replaced while it was read. Read it again.`
  throw storageError(deps, "conflict", message, { session, at: deps.keys.tail(session) })
}

function rewrittenTooFast(deps: Deps, session: string): Error {
  const message = `The log of ${session} is rewritten faster than this machine can read it. Try again.`
  return storageError(deps, "unavailable", message, { session })
}

function segmentLost(deps: Deps, session: string, error: Error): Error {
  const message = `${error.message} belongs to the log of ${session} but does not exist. Put the object back: no other object has its lines.`
  return storageError(deps, "corrupt", message, { session, at: error.message })
}
