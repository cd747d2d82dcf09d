/** Sealing: moves the oldest lines of a tail that has grown too large into segments. */
import { type Seq, utf8Length } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import type { Settings } from "../base/settings.ts"
import type { Segment } from "../format/manifest.ts"
import { removeSegments, writeSegment } from "./segments.ts"

/** Lines that leave the tail together and become one segment. */
export interface SegmentPlan {
  readonly from: Seq
  readonly blocks: readonly Block[]
}

/** Lines of about `segmentBytes` in total. */
export interface Block {
  readonly lines: readonly string[]
  readonly bytes: number
}

const PARALLEL_WRITES = 4

const encoder = new TextEncoder()

/**
 * Selects the oldest lines if `lines`, of `bytes` in total, do not fit into a tail. Whole blocks are sealed, so that segments have
 * a uniform size, and at least `keptBytes` stay. A line longer than a whole tail never stays: every later append would rewrite it.
 */
export function planSeal(lines: readonly string[], bytes: number, from: Seq, settings: Settings): SegmentPlan[] {
  const { tailBytes, keptBytes, segmentBytes, mergedBytes } = settings
  const plans: { from: Seq; bytes: number; blocks: Block[] }[] = []
  let rest = bytes
  if (rest <= tailBytes) return []
  for (let at = 0; at < lines.length; ) {
    const block = nextBlock(lines, at, segmentBytes)
    if (rest <= tailBytes && rest - block.bytes < keptBytes) break
    const last = plans.at(-1)
    if (last !== undefined && last.bytes + block.bytes <= mergedBytes) {
      last.blocks.push(block)
      last.bytes += block.bytes
    } else plans.push({ from: from + at, bytes: block.bytes, blocks: [block] })
    rest -= block.bytes
    at += block.lines.length
  }
  return plans
}

/** Writes the planned segments, in the order of the log. If one fails, removes those that were written. */
export async function writeSealed(
  deps: Deps,
  session: string,
  generation: string,
  plans: readonly SegmentPlan[],
  signal: AbortSignal,
): Promise<Segment[]> {
  const segments: Segment[] = []
  try {
    for (let at = 0; at < plans.length; at += PARALLEL_WRITES) {
      const group = plans.slice(at, at + PARALLEL_WRITES).map(({ from, blocks }) => {
        const text = blocks.map(({ lines }) => `${lines.join("\n")}\n`).join("")
        const counts = blocks.map(({ lines, bytes }) => [lines.length, bytes] as const)
        const content = { from, bytes: encoder.encode(text), blocks: counts }
        return writeSegment(deps, session, generation, content, signal)
      })
      for (const one of await Promise.allSettled(group)) if (one.status === "fulfilled") segments.push(one.value)
      await Promise.all(group)
    }
    return segments
  } catch (error) {
    await removeSegments(deps, session, generation, segments)
    throw error
  }
}

function nextBlock(lines: readonly string[], at: number, limit: number): Block {
  let bytes = 0
  let to = at
  for (; to < lines.length; to++) {
    const more = utf8Length(lines[to] as string) + 1
    if (to > at && bytes + more > limit) break
    bytes += more
  }
  return { lines: lines.slice(at, to), bytes }
}
