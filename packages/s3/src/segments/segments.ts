/** Writes segments. One that no tail names is an orphan: its writer removes it where it can, a collector otherwise. */
import type { Environment } from "../base/deps.ts"
import { once } from "../requests/request.ts"
import { persistently } from "../requests/retry.ts"
import type { Segment } from "../format/manifest.ts"
import { createToken } from "../base/time.ts"
import type { Sealed } from "../append/plan.ts"

const encoder = new TextEncoder()

/** So many go out at once. */
const PARALLEL = 4

export function segmentKey(
  { keys }: Environment,
  session: string,
  life: string,
  { name }: Pick<Segment, "name">,
): string {
  return `${keys.segmentsOf(session, life)}${name}`
}

export async function writeSegment(
  env: Environment,
  session: string,
  life: string,
  content: { readonly from: number; readonly bytes: Uint8Array; readonly pieces: Segment["pieces"] },
  signal: AbortSignal,
): Promise<Segment> {
  const segment = {
    name: createToken(env.time),
    from: content.from,
    bytes: content.bytes.length,
    pieces: content.pieces,
  }
  const key = segmentKey(env, session, life, segment)
  await persistently(env, signal, (within) => env.store.put(key, content.bytes, { signal: within }))
  return segment
}

/** In the order of the log; those that were written before one failed are removed. */
export async function writeSealed(
  env: Environment,
  session: string,
  life: string,
  sealed: readonly Sealed[],
  signal: AbortSignal,
): Promise<Segment[]> {
  const segments: Segment[] = []
  try {
    for (let at = 0; at < sealed.length; at += PARALLEL) {
      const group = sealed.slice(at, at + PARALLEL).map(({ from, pieces }) => {
        const text = pieces.map(({ lines }) => `${lines.join("\n")}\n`).join("")
        const counts = pieces.map(({ lines, bytes }) => [lines.length, bytes] as const)
        return writeSegment(env, session, life, { from, bytes: encoder.encode(text), pieces: counts }, signal)
      })
      for (const one of await Promise.allSettled(group)) if (one.status === "fulfilled") segments.push(one.value)
      await Promise.all(group)
    }
    return segments
  } catch (error) {
    await removeSegments(env, session, life, segments)
    throw error
  }
}

/** Once, and without complaint: what stays behind is a collector's. */
export async function removeSegments(
  env: Environment,
  session: string,
  life: string,
  segments: readonly Pick<Segment, "name">[],
): Promise<void> {
  await removeObjects(
    env,
    segments.map((segment) => segmentKey(env, session, life, segment)),
  )
}

export async function removeObjects(env: Environment, keys: readonly string[]): Promise<void> {
  const remove = async (key: string): Promise<void> =>
    once(env, undefined, (signal) => env.store.delete(key, { signal }))
  for (let at = 0; at < keys.length; at += 8 * PARALLEL) {
    await Promise.allSettled(keys.slice(at, at + 8 * PARALLEL).map(remove))
  }
}
