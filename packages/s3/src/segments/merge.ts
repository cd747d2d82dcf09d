/** Merging: combines many small segments into one large one, so that a long log has few objects. */
import type { Deps } from "../base/deps.ts"
import type { Settings } from "../base/settings.ts"
import { linesOfSegment, type Manifest, type Segment } from "../format/manifest.ts"
import { openObject } from "../requests/open-object.ts"
import { segmentKey, writeSegment } from "./segments.ts"

export interface Merged {
  readonly replaced: readonly Segment[]
  readonly into: Segment
}

const PARALLEL_READS = 8

/**
 * Writes the merged segment; it takes effect with the next tail that names it. Undefined if there is nothing to merge, or if a
 * segment is not as the manifest says: damaged segments are left as they are.
 */
export async function mergeSegments(
  deps: Deps,
  session: string,
  { segments, generation }: Manifest,
  signal: AbortSignal,
): Promise<Merged | undefined> {
  const replaced = planMerge(segments, deps.settings)
  const [first] = replaced
  if (first === undefined) return undefined
  const all = new Uint8Array(replaced.reduce((sum, { bytes }) => sum + bytes, 0))
  const offsets = replaced.map((_, n) => replaced.slice(0, n).reduce((sum, { bytes }) => sum + bytes, 0))
  for (let at = 0; at < replaced.length; at += PARALLEL_READS) {
    const group = replaced.slice(at, at + PARALLEL_READS)
    const contents = await Promise.all(group.map((segment) => readSegment(deps, session, generation, segment, signal)))
    for (const [n, content] of contents.entries()) {
      if (content === undefined) return undefined
      all.set(content, offsets[at + n])
    }
  }
  const blocks = replaced.flatMap((segment) => segment.blocks)
  const into = await writeSegment(deps, session, generation, { from: first.from, bytes: all, blocks }, signal)
  return { replaced, into }
}

/** Replaces consecutive segments by the one they were merged into; undefined if they are not all there any more. */
export function withMerged(segments: readonly Segment[], { replaced, into }: Merged): readonly Segment[] | undefined {
  const at = segments.findIndex(({ name }) => name === replaced[0]?.name)
  if (at === -1 || replaced.some(({ name }, n) => segments[at + n]?.name !== name)) return undefined
  return [...segments.slice(0, at), into, ...segments.slice(at + replaced.length)]
}

/** The oldest of the small segments at the end of the log, as soon as there are enough of them for one large segment. */
function planMerge(segments: readonly Segment[], { mergedBytes, segmentBytes }: Settings): readonly Segment[] {
  let first = segments.length
  while (first > 0 && (segments[first - 1] as Segment).bytes <= mergedBytes / 2) first--
  const small = segments.slice(first)
  if (small.length < Math.floor(mergedBytes / segmentBytes)) return []
  const selected: Segment[] = []
  let bytes = 0
  for (const segment of small) {
    if (bytes + segment.bytes > mergedBytes) break
    selected.push(segment)
    bytes += segment.bytes
  }
  return selected.length < 2 ? [] : selected
}

async function readSegment(
  deps: Deps,
  session: string,
  generation: string,
  segment: Segment,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const object = await openObject(deps, segmentKey(deps, session, generation, segment), {}, signal)
  if (object === undefined || object === "unchanged") return undefined
  if (object.size !== segment.bytes) {
    object.cancel()
    return undefined
  }
  const bytes = await object.readAll()
  return countLines(bytes) === linesOfSegment(segment) ? bytes : undefined
}

function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}
