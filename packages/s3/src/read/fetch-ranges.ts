/**
 * Reads small ranges of segments whole, through a cache of blocks: resuming a session reads back from its end in steps, and the
 * next step usually needs blocks that this one has fetched.
 */
import type { Deps } from "../base/deps.ts"
import type { LruCache } from "../base/lru-cache.ts"
import { segmentKey } from "../segments/segments.ts"
import { startDownload } from "./download.ts"
import type { SegmentRange } from "./segment-ranges.ts"
import { blocksOf } from "./segment-ranges.ts"

/** The blocks of each range, in order. Missing blocks are fetched in parallel, with one request per range. */
export async function fetchRanges(
  deps: Deps,
  cache: LruCache<Uint8Array>,
  session: string,
  generation: string,
  ranges: readonly SegmentRange[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Uint8Array[])[]> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener("abort", abort)
  try {
    return await Promise.all(
      ranges.map((range) => fetchRange(deps, cache, session, generation, range, controller.signal)),
    )
  } finally {
    signal?.removeEventListener("abort", abort)
    controller.abort()
  }
}

async function fetchRange(
  deps: Deps,
  cache: LruCache<Uint8Array>,
  session: string,
  generation: string,
  range: SegmentRange,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const key = segmentKey(deps, session, generation, range.segment)
  const blocks = blocksOf(range.segment).filter(({ seq }) => seq >= range.seq && seq < range.seq + range.lines)
  const missing = blocks.filter(({ at }) => cache.get(`${key} ${at}`) === undefined)
  const [first] = missing
  const last = missing.at(-1)
  const contents = new Map(blocks.map(({ at }) => [at, cache.get(`${key} ${at}`)]))
  if (first !== undefined && last !== undefined) {
    const wanted = { ...range, seq: first.seq, at: first.at, bytes: last.at + last.bytes - first.at }
    const bytes = await readAll(startDownload(deps, session, generation, wanted, signal).bytes(), wanted.bytes)
    for (const block of blocks) {
      if (block.at < first.at || block.at > last.at) continue
      const content = bytes.slice(block.at - first.at, block.at - first.at + block.bytes)
      contents.set(block.at, content)
      cache.set(`${key} ${block.at}`, content, content.length)
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
