/**
 * Reads a range or a window of a log: sealed lines from its segments, several of them in parallel but in order, then the lines in the tail.
 * If segments are merged or the tail moves on during the read, it continues by seq with the newest manifest.
 */
import { type CheckedRange, checkSignal, type Chunk, rangeIn, type Seq } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import type { LruCache } from "../base/lru-cache.ts"
import type { LiveTail } from "../format/tail.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { ObjectChangedError } from "../requests/open-object.ts"
import { type Backoff, startBackoff } from "../requests/retry.ts"
import type { TailCache } from "../tail/tail-cache.ts"
import { sliceLines, toChunks } from "./chunks.ts"
import { SegmentMissingError } from "./download.ts"
import type { SegmentReader } from "./fetch-ranges.ts"
import { type ReadChunk, segmentLines } from "./segment-lines.ts"
import { planRanges } from "./segment-ranges.ts"
import { windowOf } from "./window.ts"

export interface ReadDeps extends Deps {
  readonly tails: TailCache
  /** Blocks of segments, by key and offset. */
  readonly blocks: LruCache<Uint8Array>
}

export async function* readLog(
  deps: ReadDeps,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const { tails } = deps
  const fresh = tails.fresh(session, range.to)
  const isNamed = range.log === undefined || fresh?.manifest.log === range.log
  const found = fresh !== undefined && isNamed ? fresh : await tails.fetch(session, signal)
  const { from: first, to } = rangeIn(range, found.kind === "live" ? found.manifest : undefined)
  if (found.kind !== "live" || first >= to) return
  let tail: LiveTail = found
  let from = first
  // Only until its first lines are known; after that a window is a range.
  let { maxBytes } = range
  let backoff: Backoff | undefined
  let isSnapshot = true
  for (;;) {
    const reader = { deps, blocks: deps.blocks, session, generation: tail.manifest.generation, signal }
    try {
      const steps = maxBytes === undefined ? rangeOf(reader, tail, from, to) : windowOf(reader, tail, to, maxBytes)
      for await (const { chunk, afterYield, damage } of steps) {
        if (damage !== undefined) throw damage
        checkSignal(signal)
        maxBytes = undefined
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

async function* rangeOf(
  reader: SegmentReader,
  { manifest, lines }: LiveTail,
  from: Seq,
  to: Seq,
): AsyncGenerator<ReadChunk, void, undefined> {
  if (manifest.line0 !== undefined && from === 0 && to === 1) {
    yield { chunk: { from: 0, lines: [manifest.line0] }, afterYield: false }
    return
  }
  yield* segmentLines(reader, planRanges(manifest.segments, from, to), from, to)
  const rest = sliceLines(lines, manifest.from, from, to)
  if (rest === undefined) return
  for (const chunk of toChunks(rest.lines, rest.from)) yield { chunk, afterYield: false }
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
