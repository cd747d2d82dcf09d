/**
 * Writes and removes segments. A segment takes effect when a tail names it. Until then it is an orphan, which its writer removes
 * if the append fails, and garbage collection otherwise.
 */
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import type { Segment } from "../format/manifest.ts"
import { removeObjects } from "../requests/objects.ts"
import { uploadOwn } from "../requests/upload.ts"

export function segmentKey(
  { keys }: Deps,
  session: string,
  generation: string,
  { name }: Pick<Segment, "name">,
): string {
  return `${keys.segmentsOf(session, generation)}${name}`
}

export async function writeSegment(
  deps: Deps,
  session: string,
  generation: string,
  content: { readonly from: number; readonly bytes: Uint8Array; readonly blocks: Segment["blocks"] },
  signal: AbortSignal,
): Promise<Segment> {
  const segment = {
    name: createToken(deps.time),
    from: content.from,
    bytes: content.bytes.length,
    blocks: content.blocks,
  }
  const key = segmentKey(deps, session, generation, segment)
  await uploadOwn(deps, key, content.bytes, signal)
  return segment
}

export async function removeSegments(
  deps: Deps,
  session: string,
  generation: string,
  segments: readonly Pick<Segment, "name">[],
): Promise<void> {
  await removeObjects(
    deps,
    segments.map((segment) => segmentKey(deps, session, generation, segment)),
  )
}
