/** An append: the tail replaced by one with more lines, if it is still the one it was. */
import type { Head } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import type { Comparing } from "../tail/conditional-writes.ts"
import { once } from "../requests/request.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { isWorthAnotherTry, provesNothingDone, startPatience } from "../requests/retry.ts"
import type { Manifest, Segment } from "../format/manifest.ts"
import { tailBytesOf } from "../format/manifest.ts"
import type { LiveTail, Tail } from "../format/tail.ts"
import { ABSENT, encodeTail, etagOf } from "../format/tail.ts"
import type { Tails } from "../tail/tail-cache.ts"
import { createToken } from "../base/time.ts"
import type { Turn } from "../tail/write-lock.ts"
import type { Merged } from "../segments/merge.ts"
import { mergeSegments } from "../segments/merge.ts"
import type { Batch } from "./plan.ts"
import { emptyManifest, nextManifest, planSeal, withMerged } from "./plan.ts"
import { removeSegments, writeSealed } from "../segments/segments.ts"
import type { Sent, Verdict } from "./outcome.ts"
import { settle } from "./outcome.ts"

export interface AppendHost {
  readonly env: Environment
  readonly tails: Tails
  readonly comparing: Comparing
  /** The lines of a log between two seqs. */
  readonly lines: (session: string, range: { readonly from: number; readonly to: number }) => Promise<readonly string[]>
}

/** Segments that wait for the tail that names them, and what they are good for: a tail of this life that no collector has passed. */
interface Prepared {
  readonly life: string
  readonly fence: string
  readonly sealed: readonly Segment[]
  readonly merged: Merged | undefined
}

/** `before`: an append of these lines was sent earlier, and nobody knows what became of it. */
export async function append(
  host: AppendHost,
  session: string,
  batch: Batch,
  turn: Turn,
  before: boolean,
): Promise<Head> {
  const { env } = host
  const patience = startPatience(env)
  let sent: Sent = { any: before, uncertain: before, base: undefined }
  let prepared: Prepared | undefined
  let tail = await firstTail(host, session, batch, turn.signal)
  for (;;) {
    const verdict = await decide(host, session, tail, batch, sent)
    if (verdict.kind !== "send") {
      // Where nobody knows, they may be named yet.
      if (verdict.kind !== "unknown") await discard(env, session, prepared, manifestOf(tail))
      if (verdict.kind === "written") return verdict.head
      const code = verdict.kind === "refused" ? "conflict" : "indeterminate"
      throw storageError(env, code, verdict.why, { session, at: env.keys.tail(session) })
    }
    const manifest = await manifestToFollow(host, session, tail, batch)
    if (prepared === undefined || prepared.life !== manifest.life || prepared.fence !== fenceOf(tail)) {
      await discard(env, session, prepared, manifestOf(tail))
      prepared = await prepare(env, session, manifest, tail, batch, turn.signal)
    }
    const next = follow(manifest, tail, batch, prepared)
    turn.send()
    const failure = await put(host, session, tail, next)
    if (failure === undefined) {
      await discard(env, session, prepared, next.manifest)
      return { next: next.manifest.next, log: next.manifest.log }
    }
    sent = { any: true, uncertain: sent.uncertain || !failure.certain, base: tail }
    const now = await lookAgain(host, session, failure, sent)
    // The store answered, and the log is where it was: only what passes is worth another try.
    const untouched = etagOf(now) === etagOf(tail)
    if (untouched && failure.failure === "precondition") await correctForm(host, session, failure, sent)
    if (untouched && !(isWorthAnotherTry(failure) && (await patience.pause(failure)))) {
      await discard(env, session, sent.uncertain ? undefined : prepared, manifestOf(tail))
      throw unwritten(env, session, failure, sent)
    }
    tail = now
  }
}

/** What the writer knows of the log; what the caller knows better is looked up. */
async function firstTail(host: AppendHost, session: string, { expect }: Batch, signal: AbortSignal): Promise<Tail> {
  const { tails, comparing } = host
  const known = tails.known(session)
  if (expect !== 0) {
    const usable = known?.kind === "live" && known.manifest.log === expect.log && known.manifest.next >= expect.next
    return usable ? known : tails.fetch(session, signal)
  }
  if (known?.kind === "gone") return known
  // A creation that meets something is told so by the store, where that compares.
  return known === undefined && !comparing.unsafe ? ABSENT : tails.fetch(session, signal)
}

async function decide(
  { lines, env }: AppendHost,
  session: string,
  tail: Tail,
  batch: Batch,
  sent: Sent,
): Promise<Exclude<Verdict, { kind: "compare" }>> {
  const verdict = settle(session, tail, batch, sent)
  if (verdict.kind !== "compare") return verdict
  try {
    const there = await lines(session, { from: verdict.head.next - batch.lines.length, to: verdict.head.next })
    const own = there.length === batch.lines.length && there.every((line, n) => line === batch.lines[n])
    return own ? { kind: "written", head: verdict.head } : { kind: "refused", why: verdict.why }
  } catch (error) {
    const why = `Whether the append to ${session} is in the log cannot be read at ${env.description}: ${String(error)}`
    return { kind: "unknown", why }
  }
}

/** Of the log as it stands, or of the one that begins here. */
async function manifestToFollow(
  { env, comparing }: AppendHost,
  session: string,
  tail: Tail,
  batch: Batch,
): Promise<Manifest> {
  if (tail.kind === "live") {
    if (tail.manifest.etags === "none" && !comparing.unsafe) throw comparing.refusal(session)
    return { ...tail.manifest, etags: comparing.corrected(tail.manifest.etags) }
  }
  const etags = await comparing.known()
  return emptyManifest(`${batch.token}${createToken(env.time)}`, tail.life, etags)
}

/** Seals what the tail has no room for, and merges where that has become worth it. */
async function prepare(
  env: Environment,
  session: string,
  manifest: Manifest,
  tail: Tail,
  batch: Batch,
  signal: AbortSignal,
): Promise<Prepared> {
  const { life } = manifest
  const fence = fenceOf(tail)
  const lines = tail.kind === "live" ? [...tail.lines, ...batch.lines] : batch.lines
  const plan = planSeal(lines, tailBytesOf(manifest) + batch.bytes, manifest.from, env.settings)
  if (plan.length === 0) return { life, fence, sealed: [], merged: undefined }
  try {
    const merged = await mergeSegments(env, session, manifest, signal)
    const sealed = await writeSealed(env, session, life, plan, signal)
    return { life, fence, sealed, merged }
  } catch (error) {
    throw toStorageError(env, error, `write a segment of ${session}`, {
      session,
      at: env.keys.segmentsOf(session, life),
    })
  }
}

function follow(manifest: Manifest, tail: Tail, batch: Batch, { sealed, merged }: Prepared): Omit<LiveTail, "etag"> {
  const segments = merged === undefined ? undefined : withMerged(manifest.segments, merged.replaced, merged.into)
  const next = nextManifest({ ...manifest, segments: segments ?? manifest.segments }, batch, sealed)
  const before = tail.kind === "live" ? tail.lines : []
  return { kind: "live", manifest: next, lines: [...before, ...batch.lines].slice(next.from - manifest.from) }
}

/** The failure, where there is one. */
async function put(
  { env, tails, comparing }: AppendHost,
  session: string,
  base: Tail,
  next: Omit<LiveTail, "etag">,
): Promise<ObjectStoreError | undefined> {
  const key = env.keys.tail(session)
  const bytes = encodeTail(next.manifest, next.lines)
  const condition = comparing.condition(base, next.manifest.etags)
  try {
    const { etag } = await once(env, undefined, (signal) =>
      env.store.put(key, bytes, { signal, ...(condition !== undefined && { condition }) }),
    )
    tails.remember(session, { ...next, etag })
    return undefined
  } catch (error) {
    if (error instanceof ObjectStoreError) return error
    return new ObjectStoreError("refused", String(error), { certain: false, cause: error })
  }
}

async function lookAgain(
  { env, tails }: AppendHost,
  session: string,
  failure: ObjectStoreError,
  { uncertain }: Sent,
): Promise<Tail> {
  try {
    return await tails.fetch(session)
  } catch (error) {
    if (!uncertain && provesNothingDone(failure)) {
      throw toStorageError(env, failure, `append to ${session}`, { session, at: env.keys.tail(session) })
    }
    const why = `Whether the append to ${session} was written is not known: its answer was "${failure.message}", and the tail cannot be read since (${String(error)}). Look at the log when the store can be reached.`
    throw storageError(env, "indeterminate", why, { session, at: env.keys.tail(session) }, error)
  }
}

/** Nobody wrote, and the condition was refused all the same. */
async function correctForm(
  { env, comparing }: AppendHost,
  session: string,
  failure: ObjectStoreError,
  sent: Sent,
): Promise<void> {
  try {
    await comparing.correct()
  } catch {
    throw unwritten(env, session, failure, sent)
  }
}

function unwritten(env: Environment, session: string, failure: ObjectStoreError, { uncertain }: Sent): Error {
  const place = { session, at: env.keys.tail(session) }
  if (!uncertain) return toStorageError(env, failure, `append to ${session}`, place)
  const why = `The append to ${session} is not in the log, but may still arrive: the last answer was "${failure.message}". Look at the log again later.`
  return storageError(env, "indeterminate", why, place, failure)
}

/** Removes what of this append's segments, and of those it merged, the log does not name: no other tail can name them any more. */
async function discard(
  env: Environment,
  session: string,
  prepared: Prepared | undefined,
  manifest: Manifest | undefined,
): Promise<void> {
  if (prepared === undefined) return
  const { life, sealed, merged } = prepared
  const named = new Set(manifest?.segments.map(({ name }) => name))
  const isMerged = merged !== undefined && named.has(merged.into.name)
  const made = [...sealed, ...(merged === undefined ? [] : isMerged ? merged.replaced : [merged.into])]
  const unnamed = made.filter(({ name }) => !named.has(name))
  await removeSegments(env, session, life, unnamed)
}

function manifestOf(tail: Tail): Manifest | undefined {
  return tail.kind === "live" ? tail.manifest : undefined
}

/** What a collector changes when it keeps writers out; where there is no log, it is the tombstone that it writes. */
function fenceOf(tail: Tail): string {
  return tail.kind === "live" ? `live ${tail.manifest.fence}` : `${tail.kind} ${etagOf(tail) ?? ""}`
}
