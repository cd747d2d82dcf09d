/** Another log in the place of the old one: its segments are written first, one tail makes it the log. */
import type { Chunk, Head } from "@sessions/core/storage"
import { batchBytes, StorageError, utf8Length } from "@sessions/core/storage"
import { removeSegments, writeSealed } from "../segments/segments.ts"
import type { Sealed } from "../append/plan.ts"
import { emptyManifest, planSeal } from "../append/plan.ts"
import { storageError } from "../requests/errors.ts"
import type { TailHost } from "../tail/replace-tail.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import type { Manifest, Segment } from "../format/manifest.ts"
import { MAX_LINE0_BYTES } from "../format/manifest.ts"
import type { LiveTail } from "../format/tail.ts"
import { encodeTail } from "../format/tail.ts"
import { createToken } from "../base/time.ts"
import type { Turn } from "../tail/write-lock.ts"

export async function replaceLog(
  host: TailHost,
  session: string,
  chunks: AsyncIterable<Chunk>,
  expect: Head,
  turn: Turn,
): Promise<Head> {
  const { env, tails } = host
  const before = await tails.fetch(session, turn.signal)
  const { manifest } = demand(host, session, before, expect)
  const written: Segment[] = []
  const log = `${createToken(env.time)}${createToken(env.time)}`
  const remove = async (): Promise<void> => removeSegments(env, session, manifest.life, written)
  let made: Omit<LiveTail, "etag">
  try {
    made = await writeLog(host, session, manifest, chunks, turn, log, written)
  } catch (error) {
    await remove()
    throw error
  }
  try {
    await replaceTail(
      host,
      session,
      "replace the log of",
      turn,
      async (tail) => {
        const now = demand(host, session, tail, expect).manifest
        if (now.fence !== manifest.fence) {
          const message = `What was left over of ${session} was collected while its log was replaced. Repeat the call.`
          throw storageError(env, "unavailable", message, { session })
        }
        return { bytes: encodeTail(made.manifest, made.lines), etags: now.etags, asTail: (etag) => ({ ...made, etag }) }
      },
      (tail) => tail.kind === "live" && tail.manifest.log === log,
    )
  } catch (error) {
    if (!(error instanceof StorageError && error.code === "indeterminate")) await remove()
    throw error
  }
  await removeSegments(env, session, manifest.life, manifest.segments)
  return { next: made.manifest.next, log }
}

function demand({ env }: TailHost, session: string, tail: { kind: string }, expect: Head): LiveTail {
  const live = tail.kind === "live" ? (tail as LiveTail) : undefined
  if (live !== undefined && live.manifest.log === expect.log && live.manifest.next === expect.next) return live
  const message =
    live === undefined
      ? `There is no session ${session} whose log could be replaced.`
      : `The log of ${session} is not the one that was to be replaced: it has grown, or is another one. Read it anew.`
  throw storageError(env, "conflict", message, { session, at: env.keys.tail(session) })
}

/** Everything but the tail, which makes it the log. Holds no more of it than a large segment. */
async function writeLog(
  { env }: TailHost,
  session: string,
  base: Manifest,
  chunks: AsyncIterable<Chunk>,
  turn: Turn,
  log: string,
  written: Segment[],
): Promise<Omit<LiveTail, "etag">> {
  const { settings } = env
  let manifest: Manifest = { ...emptyManifest(log, base.life, base.etags), fence: base.fence }
  let lines: string[] = []
  let bytes = 0
  const seal = async (plan: readonly Sealed[]): Promise<void> => {
    const segments = await writeSealed(env, session, base.life, plan, turn.signal)
    written.push(...segments)
    const sealed = plan.reduce(
      (sum, { pieces }) => sum + pieces.reduce((count, piece) => count + piece.lines.length, 0),
      0,
    )
    for (const line of lines.slice(0, sealed)) bytes -= utf8Length(line) + 1
    lines = lines.slice(sealed)
    manifest = { ...manifest, from: manifest.from + sealed, segments: [...manifest.segments, ...segments] }
  }
  for await (const chunk of chunks) {
    const first = chunk.lines[0] as string
    const line0 = manifest.next === 0 && first.length <= MAX_LINE0_BYTES ? { line0: first } : {}
    const more = batchBytes(chunk.lines)
    for (const line of chunk.lines) lines.push(line)
    bytes += more
    manifest = { ...manifest, ...line0, next: manifest.next + chunk.lines.length, bytes: manifest.bytes + more }
    if (bytes > settings.mergedBytes + settings.tailBytes) await seal(planSeal(lines, bytes, manifest.from, settings))
  }
  await seal(planSeal(lines, bytes, manifest.from, settings))
  return { kind: "live", manifest: { ...manifest, writes: [[0, createToken(env.time)]] }, lines }
}
