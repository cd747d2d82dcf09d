/** Makes one large segment of many small ones. It takes effect with the append that it rides on, or not at all. */
import type { Environment } from "../base/deps.ts"
import { openObject } from "../requests/open-object.ts"
import type { Manifest, Segment } from "../format/manifest.ts"
import { linesOfSegment } from "../format/manifest.ts"
import { planMerge } from "../append/plan.ts"
import { segmentKey, writeSegment } from "./segments.ts"

export interface Merged {
  readonly replaced: readonly Segment[]
  readonly into: Segment
}

const PARALLEL = 8

/** Undefined where there is nothing to merge, or what is there is not what the manifest says: damage is never written anew. */
export async function mergeSegments(
  env: Environment,
  session: string,
  { segments, life }: Manifest,
  signal: AbortSignal,
): Promise<Merged | undefined> {
  const replaced = planMerge(segments, env.settings)
  const [first] = replaced
  if (first === undefined) return undefined
  const all = new Uint8Array(replaced.reduce((sum, { bytes }) => sum + bytes, 0))
  const places = replaced.map((_, n) => replaced.slice(0, n).reduce((sum, { bytes }) => sum + bytes, 0))
  for (let at = 0; at < replaced.length; at += PARALLEL) {
    const group = replaced.slice(at, at + PARALLEL)
    const contents = await Promise.all(group.map((segment) => readSegment(env, session, life, segment, signal)))
    for (const [n, content] of contents.entries()) {
      if (content === undefined) return undefined
      all.set(content, places[at + n])
    }
  }
  const pieces = replaced.flatMap((segment) => segment.pieces)
  const into = await writeSegment(env, session, life, { from: first.from, bytes: all, pieces }, signal)
  return { replaced, into }
}

async function readSegment(
  env: Environment,
  session: string,
  life: string,
  segment: Segment,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const object = await openObject(env, segmentKey(env, session, life, segment), {}, signal)
  if (object === undefined || object === "unchanged") return undefined
  if (object.size !== segment.bytes) {
    object.drop()
    return undefined
  }
  const bytes = await object.whole()
  return countLines(bytes) === linesOfSegment(segment) ? bytes : undefined
}

function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}
