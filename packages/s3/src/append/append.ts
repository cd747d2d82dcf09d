/**
 * Appends a batch: one conditional PUT replaces the tail by one that has the new lines. Any answer but success is resolved by
 * reading the tail. A tail that grows too large is sealed first: its oldest lines are written as segments.
 */
import { type Head, isSameLine } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import { emptyManifest, type Manifest, type Segment, tailBytesOf } from "../format/manifest.ts"
import { ABSENT, encodeTail, etagOf, headOf, type LiveTail, type Tail } from "../format/tail.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { type Backoff, isRetryable, provesNotWritten, startBackoff } from "../requests/retry.ts"
import { upload } from "../requests/upload.ts"
import { type Merged, mergeSegments, withMerged } from "../segments/merge.ts"
import { planSeal, writeSealed } from "../segments/seal.ts"
import { removeSegments } from "../segments/segments.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import type { WriteLock } from "../tail/write-lock.ts"
import { type Batch, nextManifest } from "./batch.ts"
import { type Attempts, type Outcome, resolveOutcome } from "./outcome.ts"

export interface AppendDeps extends TailDeps {
  /** Reads the lines of a log between two seqs. */
  readonly readLines: (
    session: string,
    range: { readonly from: number; readonly to: number },
  ) => Promise<readonly string[]>
}

/** Segments written for this append that no tail names yet. They may only be named in this generation and below this fence. */
interface PendingSegments {
  readonly generation: string
  readonly fence: string
  readonly sealed: readonly Segment[]
  readonly merged: Merged | undefined
}

/**
 * `sentBefore`: an earlier append of the same batch has an unknown outcome. Rejects with `conflict` if the log does not end at the
 * expected head, and with `indeterminate` if the outcome cannot be found out.
 */
export async function append(
  deps: AppendDeps,
  session: string,
  batch: Batch,
  lock: WriteLock,
  sentBefore: boolean,
): Promise<Head> {
  let backoff = startBackoff(deps)
  let attempts: Attempts = { any: sentBefore, uncertain: sentBefore, base: undefined }
  let pending: PendingSegments | undefined
  let tail = await firstTail(deps, session, batch, lock.signal, backoff)
  for (;;) {
    const outcome = await findOutcome(deps, session, tail, batch, attempts)
    if (outcome.kind !== "send") {
      // After an unknown outcome a tail may still name the segments.
      if (outcome.kind !== "unknown") await removeUnnamed(deps, session, pending, manifestOf(tail))
      if (outcome.kind === "committed") return outcome.head
      const code = outcome.kind === "conflict" ? "conflict" : "indeterminate"
      throw storageError(deps, code, outcome.why, { session, at: deps.keys.tail(session) })
    }
    const base = await baseManifest(deps, session, tail, batch)
    if (pending === undefined || pending.generation !== base.generation || pending.fence !== fenceOf(tail)) {
      await removeUnnamed(deps, session, pending, manifestOf(tail))
      pending = await writePendingSegments(deps, session, base, tail, batch, lock.signal)
      // A written segment is progress, which may have taken longer than the patience with failures.
      if (pending.sealed.length > 0) backoff = startBackoff(deps)
    }
    const next = nextTail(base, tail, batch, pending)
    lock.send()
    const failure = await put(deps, session, tail, next)
    if (failure === undefined) {
      await removeUnnamed(deps, session, pending, next.manifest)
      return { next: next.manifest.next, log: next.manifest.log }
    }
    attempts = { any: true, uncertain: attempts.uncertain || !failure.certain, base: tail }
    const now = await fetchAfterFailure(deps, session, failure, attempts, backoff)
    const untouched = etagOf(now) === etagOf(tail)
    if (untouched && failure.failure === "precondition") await probeAgain(deps, session, failure, attempts)
    if (untouched && !(isRetryable(failure) && (await backoff.pause(failure)))) {
      await removeUnnamed(deps, session, attempts.uncertain ? undefined : pending, manifestOf(tail))
      throw failureError(deps, session, failure, attempts)
    }
    tail = now
  }
}

/** The cached tail if it can be the expected one; otherwise the store is asked. */
async function firstTail(
  deps: AppendDeps,
  session: string,
  { expect }: Batch,
  signal: AbortSignal,
  backoff: Backoff,
): Promise<Tail> {
  const { tails, conditionalWrites } = deps
  const cached = tails.cached(session)
  if (expect !== 0) {
    // One that ends in another line may have been read before an older version was put back.
    const usable =
      cached?.kind === "live" &&
      cached.manifest.log === expect.log &&
      (cached.manifest.next > expect.next ||
        (cached.manifest.next === expect.next && isSameLine(headOf(cached), expect)))
    return usable ? cached : tails.fetch(session, signal, backoff)
  }
  if (cached?.kind === "deleted") return cached
  // A creation needs no read: with conditional writes the store refuses it if the session exists.
  return cached === undefined && !conditionalWrites.unsafeSingleWriter ? ABSENT : tails.fetch(session, signal, backoff)
}

async function findOutcome(
  deps: AppendDeps,
  session: string,
  tail: Tail,
  batch: Batch,
  attempts: Attempts,
): Promise<Exclude<Outcome, { kind: "compare" }>> {
  const outcome = resolveOutcome(session, tail, batch, attempts)
  if (outcome.kind !== "compare") return outcome
  const { head, why } = outcome
  try {
    const found = await deps.readLines(session, { from: head.next - batch.lines.length, to: head.next })
    const isOwn = found.length === batch.lines.length && found.every((line, n) => line === batch.lines[n])
    return isOwn ? { kind: "committed", head } : { kind: "conflict", why }
  } catch (error) {
    const unknown = `The append to ${session} has an unknown outcome: its lines cannot be read at ${deps.description} (${String(error)}). Look at the log when the store can be reached.`
    return { kind: "unknown", why: unknown }
  }
}

/** The manifest of the log that the batch follows, or an empty one for a new log. */
async function baseManifest(deps: AppendDeps, session: string, tail: Tail, batch: Batch): Promise<Manifest> {
  const { conditionalWrites } = deps
  if (tail.kind === "live") {
    if (tail.manifest.etags === "none" && !conditionalWrites.unsafeSingleWriter) {
      throw conditionalWrites.unsafeSessionError(session)
    }
    return { ...tail.manifest, ...(await conditionalWrites.proofFor(tail.manifest)) }
  }
  const proof = await conditionalWrites.proofHere()
  return emptyManifest(`${batch.token}${createToken(deps.time)}`, tail.generation, proof)
}

/** Seals the lines that do not fit into the tail; if it does, also merges small segments when there are enough of them. */
async function writePendingSegments(
  deps: Deps,
  session: string,
  manifest: Manifest,
  tail: Tail,
  batch: Batch,
  signal: AbortSignal,
): Promise<PendingSegments> {
  const { generation } = manifest
  const fence = fenceOf(tail)
  const lines = tail.kind === "live" ? [...tail.lines, ...batch.lines] : batch.lines
  const plans = planSeal(lines, tailBytesOf(manifest) + batch.bytes, manifest.from, deps.settings)
  if (plans.length === 0) return { generation, fence, sealed: [], merged: undefined }
  try {
    const merged = await mergeSegments(deps, session, manifest, signal).catch((error: unknown) => {
      // It only saves objects, and will be tried again.
      if (signal.aborted) throw error
      return undefined
    })
    const sealed = await writeSealed(deps, session, generation, plans, signal)
    return { generation, fence, sealed, merged }
  } catch (error) {
    const at = deps.keys.segmentsOf(session, generation)
    throw toStorageError(deps, error, `write a segment of ${session}`, { session, at })
  }
}

function nextTail(
  manifest: Manifest,
  tail: Tail,
  batch: Batch,
  { sealed, merged }: PendingSegments,
): Omit<LiveTail, "etag"> {
  const segments = merged === undefined ? undefined : withMerged(manifest.segments, merged)
  const next = nextManifest({ ...manifest, segments: segments ?? manifest.segments }, batch, sealed)
  const before = tail.kind === "live" ? tail.lines : []
  return { kind: "live", manifest: next, lines: [...before, ...batch.lines].slice(next.from - manifest.from) }
}

/** Resolves to the failure, or to undefined if the tail was written. */
async function put(
  deps: AppendDeps,
  session: string,
  base: Tail,
  next: Omit<LiveTail, "etag">,
): Promise<ObjectStoreError | undefined> {
  const key = deps.keys.tail(session)
  const bytes = encodeTail(next.manifest, next.lines)
  const condition = deps.conditionalWrites.conditionFor(etagOf(base), next.manifest.etags)
  try {
    const { etag } = await upload(deps, key, bytes, { condition })
    deps.tails.remember(session, { ...next, etag })
    return undefined
  } catch (error) {
    if (error instanceof ObjectStoreError) return error
    return new ObjectStoreError("refused", String(error), { certain: false, cause: error })
  }
}

async function fetchAfterFailure(
  deps: AppendDeps,
  session: string,
  failure: ObjectStoreError,
  { uncertain }: Attempts,
  backoff: Backoff,
): Promise<Tail> {
  try {
    return await deps.tails.fetch(session, undefined, backoff)
  } catch (error) {
    const location = { session, at: deps.keys.tail(session) }
    if (!uncertain && provesNotWritten(failure)) throw toStorageError(deps, failure, `append to ${session}`, location)
    const why = `The append to ${session} has an unknown outcome: its answer was "${failure.message}", and the tail cannot be read since (${String(error)}). Look at the log when the store can be reached.`
    throw storageError(deps, "indeterminate", why, location, error)
  }
}

/** The condition was refused although the tail is unchanged: the store may want another form of ETag. */
async function probeAgain(
  deps: AppendDeps,
  session: string,
  failure: ObjectStoreError,
  attempts: Attempts,
): Promise<void> {
  try {
    await deps.conditionalWrites.probeAgain()
  } catch (error) {
    throw attempts.uncertain ? failureError(deps, session, failure, attempts) : error
  }
}

function failureError(deps: Deps, session: string, failure: ObjectStoreError, { uncertain }: Attempts): Error {
  const location = { session, at: deps.keys.tail(session) }
  if (!uncertain) return toStorageError(deps, failure, `append to ${session}`, location)
  const why = `The append to ${session} is not in the log, but may still arrive: the last answer was "${failure.message}". Look at the log again later.`
  return storageError(deps, "indeterminate", why, location, failure)
}

/** Removes the written and the merged segments that the manifest does not name: no later tail can name them. */
async function removeUnnamed(
  deps: Deps,
  session: string,
  pending: PendingSegments | undefined,
  manifest: Manifest | undefined,
): Promise<void> {
  if (pending === undefined) return
  const { generation, sealed, merged } = pending
  const named = new Set(manifest?.segments.map(({ name }) => name))
  const isMerged = merged !== undefined && named.has(merged.into.name)
  const candidates = [...sealed, ...(merged === undefined ? [] : isMerged ? merged.replaced : [merged.into])]
  const unnamed = candidates.filter(({ name }) => !named.has(name))
  await removeSegments(deps, session, generation, unnamed)
}

function manifestOf(tail: Tail): Manifest | undefined {
  return tail.kind === "live" ? tail.manifest : undefined
}

/** Changes when garbage collection raises the fence; without a log, when it writes a new tombstone. */
function fenceOf(tail: Tail): string {
  return tail.kind === "live" ? `live ${tail.manifest.fence}` : `${tail.kind} ${etagOf(tail) ?? ""}`
}
