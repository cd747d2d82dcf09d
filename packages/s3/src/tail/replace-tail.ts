/** Conditional writes of a tail for any purpose but an append: deletion, replacing the log, raising the fence. */
import type { Deps } from "../base/deps.ts"
import type { Manifest } from "../format/manifest.ts"
import { etagOf, type Tail } from "../format/tail.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { type Backoff, isRetryable, provesNotWritten, startBackoff } from "../requests/retry.ts"
import { upload } from "../requests/upload.ts"
import type { TailDeps } from "./tail-deps.ts"
import type { WriteLock } from "./write-lock.ts"

export interface Replacement {
  readonly bytes: Uint8Array
  readonly etags: Manifest["etags"]
  /** The tail to cache once it is written. */
  asTail(etag: string): Tail
}

export interface Replaced {
  readonly before: Tail
  /** False if there was nothing to do. */
  readonly done: boolean
}

/**
 * Reads the tail and replaces it until this writer has done so or `plan` returns undefined: there is nothing to do. `plan` may
 * throw. `isOwn` recognizes this writer's tail, whose answer was lost. `indeterminate` if the outcome stays unknown.
 */
export async function replaceTail(
  deps: TailDeps,
  session: string,
  action: string,
  lock: WriteLock,
  plan: (tail: Tail) => Promise<Replacement | undefined>,
  isOwn: (tail: Tail) => boolean,
): Promise<Replaced> {
  const { tails, conditionalWrites } = deps
  const key = deps.keys.tail(session)
  const backoff = startBackoff(deps)
  let uncertain = false
  let base: Tail | undefined
  let tail = await tails.fetch(session, lock.signal, backoff)
  for (;;) {
    if (base !== undefined && isOwn(tail)) return { before: base, done: true }
    const replacement = await plan(tail)
    if (replacement === undefined) return { before: tail, done: false }
    lock.send()
    const condition = conditionalWrites.conditionFor(etagOf(tail), replacement.etags)
    try {
      const { etag } = await upload(deps, key, replacement.bytes, { condition })
      tails.remember(session, replacement.asTail(etag))
      return { before: tail, done: true }
    } catch (error) {
      const failure =
        error instanceof ObjectStoreError
          ? error
          : new ObjectStoreError("refused", String(error), { certain: false, cause: error })
      uncertain ||= !failure.certain
      base = tail
      tail = await fetchAfterFailure(deps, session, action, failure, uncertain, backoff)
      const moved = etagOf(tail) !== etagOf(base)
      // The condition was refused although the tail is unchanged: the store may want another form of ETag.
      if (!moved && failure.failure === "precondition")
        await conditionalWrites.probeAgain().catch((why: unknown) => {
          throw uncertain ? unknownOutcome(deps, session, action, failure) : why
        })
      if (moved || (isRetryable(failure) && (await backoff.pause(failure)))) continue
      if (!uncertain) throw toStorageError(deps, failure, `${action} ${session}`, { session, at: key })
      throw unknownOutcome(deps, session, action, failure)
    }
  }
}

async function fetchAfterFailure(
  deps: TailDeps,
  session: string,
  action: string,
  failure: ObjectStoreError,
  uncertain: boolean,
  backoff: Backoff,
): Promise<Tail> {
  try {
    return await deps.tails.fetch(session, undefined, backoff)
  } catch (error) {
    throw uncertain || !provesNotWritten(failure) ? unknownOutcome(deps, session, action, failure) : error
  }
}

function unknownOutcome(deps: Deps, session: string, action: string, failure: ObjectStoreError): Error {
  const message = `The attempt to ${action} ${session} has an unknown outcome: the last answer was "${failure.message}". Look at the session again when the store can be reached.`
  return storageError(deps, "indeterminate", message, { session, at: deps.keys.tail(session) }, failure)
}
