/** Reading: what the tail holds, and before that segments, several at once and in order. */
import type { CheckedRange, Chunk, Seq } from "@sessions/core/storage"
import { checkSignal, rangeIn } from "@sessions/core/storage"
import { segmentKey } from "../segments/segments.ts"
import type { Cache } from "../base/lru-cache.ts"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { ChangedObject } from "../requests/open-object.ts"
import type { Patience } from "../requests/retry.ts"
import { startPatience } from "../requests/retry.ts"
import type { LiveTail } from "../format/tail.ts"
import type { Tails } from "../tail/tail-cache.ts"
import { linesOf, toChunks, within } from "./chunks.ts"
import type { Download } from "./download.ts"
import { MissingSegment, startDownload } from "./download.ts"
import { fetchPieces } from "./pieces.ts"
import type { Stretch } from "./plan.ts"
import { planStretches } from "./plan.ts"

export interface ReadHost {
  readonly env: Environment
  readonly tails: Tails
  /** Pieces of segments by key and offset. */
  readonly pieces: Cache<Uint8Array>
}

/** Of a read of so many segments' worth nothing is given before all has come: it sees one state of the log, and checks nothing. */
const SNAPSHOT_SEGMENTS = 4

export async function* readLog(
  host: ReadHost,
  session: string,
  range: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const { env, tails } = host
  const end = range.last === undefined ? range.to : range.before
  const found = tails.recent(session, end) ?? (await tails.fetch(session, signal))
  if (found.kind !== "live") return
  let tail: LiveTail = found
  const { from: first, to } = rangeIn(range, tail.manifest.next)
  let from = first
  let patience: Patience | undefined
  let checkedEnd = true
  for (;;) {
    try {
      for await (const { chunk, later } of chunksOf(host, session, tail, from, to, signal)) {
        checkSignal(signal)
        checkedEnd &&= !later
        from = chunk.from + chunk.lines.length
        // However long its reader takes: what ran out of patience is a read that does not get on.
        patience = undefined
        yield chunk
      }
      break
    } catch (error) {
      const moved = error instanceof MissingSegment || error instanceof ChangedObject
      if (!moved) throw toStorageError(env, error, `read ${session}`, { session })
      const now = await stillThere(host, session, tail, signal)
      // A segment that the newest tail names is never removed.
      if (now.etag === tail.etag) throw segmentLost(env, session, error)
      tail = now
      patience ??= startPatience(env)
      if (!(await patience.pause(error, signal))) throw tooFast(env, session)
    }
  }
  if (!checkedEnd) await stillThere(host, session, tail, signal)
}

interface Given {
  readonly chunk: Chunk
  /** It came after others had been given: the log may be another one by now. */
  readonly later: boolean
}

async function* chunksOf(
  host: ReadHost,
  session: string,
  tail: LiveTail,
  from: Seq,
  to: Seq,
  signal: AbortSignal | undefined,
): AsyncGenerator<Given, void, undefined> {
  const { manifest, lines } = tail
  if (manifest.line0 !== undefined && from === 0 && to === 1) {
    yield { chunk: { from: 0, lines: [manifest.line0] }, later: false }
    return
  }
  const stretches = planStretches(manifest.segments, from, to)
  const bytes = stretches.reduce((sum, stretch) => sum + stretch.bytes, 0)
  if (bytes <= SNAPSHOT_SEGMENTS * host.env.settings.segmentBytes) {
    const contents = await fetchPieces(host, session, manifest.life, stretches, signal)
    for (const [n, stretch] of stretches.entries()) {
      for await (const chunk of parse(host, session, manifest.life, stretch, contents[n] ?? [], from, to)) {
        yield { chunk, later: false }
      }
    }
  } else yield* streamed(host, session, manifest.life, stretches, from, to, signal)
  const rest = within(lines, manifest.from, from, to)
  if (rest === undefined) return
  for (const chunk of toChunks(rest.lines, rest.from)) yield { chunk, later: false }
}

/** Several downloads at once, as far as the memory that they may take allows. */
async function* streamed(
  host: ReadHost,
  session: string,
  life: string,
  stretches: readonly Stretch[],
  from: Seq,
  to: Seq,
  signal: AbortSignal | undefined,
): AsyncGenerator<Given, void, undefined> {
  const { env } = host
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener("abort", abort)
  const queue: Download[] = []
  let started = 0
  // A reader that stops early should not have asked for much more: the more it has taken, the further ahead is fetched.
  let ahead = host.env.settings.segmentBytes
  const fill = (): void => {
    let held = queue.reduce((sum, { stretch }) => sum + stretch.bytes, 0)
    for (let next = stretches[started]; next !== undefined; next = stretches[started]) {
      if (queue.length > 0 && held + next.bytes > Math.min(ahead, env.settings.readAheadBytes)) return
      queue.push(startDownload(env, session, life, next, controller.signal))
      held += next.bytes
      started++
    }
  }
  try {
    for (let later = false; started < stretches.length || queue.length > 0; ) {
      fill()
      const download = queue[0] as Download
      for await (const chunk of parse(host, session, life, download.stretch, download.bytes(), from, to)) {
        yield { chunk, later }
        later = true
      }
      queue.shift()
      ahead *= 4
    }
  } finally {
    signal?.removeEventListener("abort", abort)
    controller.abort()
  }
}

/** The chunks of a stretch, which must hold exactly the lines that the manifest counts. */
async function* parse(
  { env }: ReadHost,
  session: string,
  life: string,
  stretch: Stretch,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  from: Seq,
  to: Seq,
): AsyncGenerator<Chunk, void, undefined> {
  const key = segmentKey(env, session, life, stretch.segment)
  const damaged = (what: string): Error => {
    const message = `${key} ${what} (bytes ${stretch.at} to ${stretch.at + stretch.bytes}): somebody changed it. Put back the object as it was.`
    return storageError(env, "corrupt", message, { session, at: key })
  }
  let seq = stretch.seq
  for await (const lines of linesOf(bytes)) {
    if (lines === undefined) throw damaged("has bytes that are not lines of UTF-8")
    const chunk = within(lines, seq, from, Math.min(to, stretch.seq + stretch.lines))
    seq += lines.length
    if (chunk !== undefined) yield chunk
  }
  if (seq !== stretch.seq + stretch.lines) throw damaged(`has ${seq - stretch.seq} lines, not ${stretch.lines}`)
}

/** The log as it stands, if it is still this one. */
async function stillThere(
  { env, tails }: ReadHost,
  session: string,
  { manifest }: LiveTail,
  signal: AbortSignal | undefined,
): Promise<LiveTail> {
  const now = await tails.fetch(session, signal)
  if (now.kind === "live" && now.manifest.log === manifest.log) return now
  const message = `The log of ${session} was deleted or replaced while it was read. Read it anew.`
  throw storageError(env, "conflict", message, { session, at: env.keys.tail(session) })
}

function tooFast(env: Environment, session: string): Error {
  const message = `The log of ${session} is rewritten faster than this machine reads it. Try again.`
  return storageError(env, "unavailable", message, { session })
}

function segmentLost(env: Environment, session: string, error: Error): Error {
  const message = `${error.message} belongs to the log of ${session} and is not there. Put the object back; nothing else has its lines.`
  return storageError(env, "corrupt", message, { session, at: error.message })
}
