/**
 * Reads small ranges of segments whole, through a cache of blocks: resuming a session reads back from its end in steps, and the
 * next step usually needs blocks that this one has fetched.
 */
import { onAbort } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import type { LruCache } from "../base/lru-cache.ts"
import { segmentKey } from "../segments/segments.ts"
import { startDownload } from "./download.ts"
import { blocksOf, type SegmentRange } from "./segment-ranges.ts"

/** The reading of one state of a log. */
export interface SegmentReader {
  readonly deps: Deps
  /** Blocks of segments, by key and offset. */
  readonly blocks: LruCache<Uint8Array>
  readonly session: string
  readonly generation: string
  readonly signal: AbortSignal | undefined
}

/** The blocks of each range, in order. Missing blocks are fetched in parallel, with one request per range. */
export async function fetchRanges(
  reader: SegmentReader,
  ranges: readonly SegmentRange[],
): Promise<readonly (readonly Uint8Array[])[]> {
  const { signal } = reader
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  const off = signal === undefined ? undefined : onAbort(signal, abort)
  try {
    return await Promise.all(ranges.map((range) => fetchRange(reader, range, controller.signal)))
  } finally {
    off?.()
    controller.abort()
  }
}

/** A block, if it is in the cache. */
export function cachedBlock(
  { deps, blocks, session, generation }: SegmentReader,
  block: SegmentRange,
): Uint8Array | undefined {
  return blocks.get(cacheKey(segmentKey(deps, session, generation, block.segment), block))
}

/** Caches a block of which all lines were read in another way. */
export function cacheBlock(
  { deps, blocks, session, generation }: SegmentReader,
  block: SegmentRange,
  lines: readonly string[],
): void {
  const key = cacheKey(segmentKey(deps, session, generation, block.segment), block)
  if (blocks.get(key) !== undefined) return
  const content = encoder.encode(`${lines.join("\n")}\n`)
  blocks.set(key, content, content.length)
}

const encoder = new TextEncoder()

function cacheKey(key: string, { at }: SegmentRange): string {
  return `${key} ${at}`
}

async function fetchRange(
  { deps, blocks: cache, session, generation }: SegmentReader,
  range: SegmentRange,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const key = segmentKey(deps, session, generation, range.segment)
  const blocks = blocksOf(range.segment).filter(({ seq }) => seq >= range.seq && seq < range.seq + range.lines)
  const missing = blocks.filter((block) => cache.get(cacheKey(key, block)) === undefined)
  const [first] = missing
  const last = missing.at(-1)
  const contents = new Map(blocks.map((block) => [block.at, cache.get(cacheKey(key, block))]))
  if (first !== undefined && last !== undefined) {
    const wanted = { ...range, seq: first.seq, at: first.at, bytes: last.at + last.bytes - first.at }
    const bytes = await readAll(startDownload(deps, session, generation, wanted, signal).bytes(), wanted.bytes)
    for (const block of blocks) {
      if (block.at < first.at || block.at > last.at) continue
      const content = bytes.slice(block.at - first.at, block.at - first.at + block.bytes)
      contents.set(block.at, content)
      cache.set(cacheKey(key, block), content, content.length)
    }
  }
  return blocks.map(({ at }) => contents.get(at) as Uint8Array)
}

async function readAll(parts: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const all = new Uint8Array(length)
  let at = 0
  for await (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
