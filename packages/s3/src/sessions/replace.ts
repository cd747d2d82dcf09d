/** Replaces the log of a session: writes the segments of the new log, then one conditional write of the tail commits it. */
import { batchBytes, type Chunk, type Head, isSameLine, StorageError, utf8Length } from "@sessions/core/storage"
import { createToken } from "../base/time.ts"
import {
  creationTokenOf,
  emptyManifest,
  type Manifest,
  MAX_FIRST_LINE_BYTES,
  type Segment,
} from "../format/manifest.ts"
import { encodeTail, headOf, type LiveTail, type Tail } from "../format/tail.ts"
import { storageError } from "../requests/errors.ts"
import { planSeal, type SegmentPlan, writeSealed } from "../segments/seal.ts"
import { removeSegments } from "../segments/segments.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import type { WriteLock } from "../tail/write-lock.ts"

export async function replaceLog(
  deps: TailDeps,
  session: string,
  chunks: AsyncIterable<Chunk>,
  expect: Head,
  lock: WriteLock,
): Promise<Head> {
  const before = await deps.tails.fetch(session, lock.signal)
  const { manifest: read } = requireHead(deps, session, before, expect)
  const manifest = { ...read, ...(await deps.conditionalWrites.proofFor(read)) }
  const written: Segment[] = []
  // Begins with the token that created the session, by which its creator recognizes the tombstone if its answer was lost.
  const log = `${creationTokenOf(manifest)}${createToken(deps.time)}`
  const removeWritten = async (): Promise<void> => removeSegments(deps, session, manifest.generation, written)
  let replacement: Omit<LiveTail, "etag">
  try {
    replacement = await writeLog(deps, session, manifest, chunks, lock, log, written)
  } catch (error) {
    await removeWritten()
    throw error
  }
  try {
    await replaceTail(
      deps,
      session,
      "replace the log of",
      lock,
      async (tail) => {
        const now = requireHead(deps, session, tail, expect).manifest
        if (now.fence !== manifest.fence) {
          const message = `Garbage was collected in ${session} while its log was replaced. Repeat the call.`
          throw storageError(deps, "unavailable", message, { session })
        }
        return {
          bytes: encodeTail(replacement.manifest, replacement.lines),
          etags: manifest.etags,
          asTail: (etag) => ({ ...replacement, etag }),
        }
      },
      (tail) => tail.kind === "live" && tail.manifest.log === log,
    )
  } catch (error) {
    if (!(error instanceof StorageError && error.code === "indeterminate")) await removeWritten()
    throw error
  }
  await removeSegments(deps, session, manifest.generation, manifest.segments)
  return { next: replacement.manifest.next, log }
}

function requireHead(deps: TailDeps, session: string, tail: Tail, expect: Head): LiveTail {
  if (
    tail.kind === "live" &&
    tail.manifest.log === expect.log &&
    tail.manifest.next === expect.next &&
    isSameLine(headOf(tail), expect)
  )
    return tail
  const message =
    tail.kind === "live"
      ? `The log of ${session} has grown or was replaced since it was read. Read it again.`
      : `There is no session ${session} whose log could be replaced.`
  throw storageError(deps, "conflict", message, { session, at: deps.keys.tail(session) })
}

/** Writes all segments and returns the tail that commits them. Holds at most one merged segment in memory. */
async function writeLog(
  deps: TailDeps,
  session: string,
  base: Manifest,
  chunks: AsyncIterable<Chunk>,
  lock: WriteLock,
  log: string,
  written: Segment[],
): Promise<Omit<LiveTail, "etag">> {
  const { settings } = deps
  const replaced: Head = { next: base.next, log: base.log }
  let manifest: Manifest = { ...emptyManifest(log, base.generation, base), fence: base.fence, replaced }
  let lines: string[] = []
  let bytes = 0
  const seal = async (plans: readonly SegmentPlan[]): Promise<void> => {
    const segments = await writeSealed(deps, session, base.generation, plans, lock.signal)
    written.push(...segments)
    const sealed = plans.reduce(
      (sum, { blocks }) => sum + blocks.reduce((count, block) => count + block.lines.length, 0),
      0,
    )
    for (const line of lines.slice(0, sealed)) bytes -= utf8Length(line) + 1
    lines = lines.slice(sealed)
    manifest = { ...manifest, from: manifest.from + sealed, segments: [...manifest.segments, ...segments] }
  }
  for await (const chunk of chunks) {
    const first = chunk.lines[0] as string
    const line0 = manifest.next === 0 && first.length <= MAX_FIRST_LINE_BYTES ? { line0: first } : {}
    const more = batchBytes(chunk.lines)
    for (const line of chunk.lines) lines.push(line)
    bytes += more
    manifest = { ...manifest, ...line0, next: manifest.next + chunk.lines.length, bytes: manifest.bytes + more }
    if (bytes > settings.mergedBytes + settings.tailBytes) await seal(planSeal(lines, bytes, manifest.from, settings))
  }
  await seal(planSeal(lines, bytes, manifest.from, settings))
  return { kind: "live", manifest: { ...manifest, writes: [[0, createToken(deps.time)]] }, lines }
}
