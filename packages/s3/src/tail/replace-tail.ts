/** Writing a tail for another reason than an append: to delete, to replace, to keep writers out. */
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import type { Comparing } from "./conditional-writes.ts"
import { once } from "../requests/request.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { isWorthAnotherTry, provesNothingDone, startPatience } from "../requests/retry.ts"
import type { Manifest } from "../format/manifest.ts"
import type { Tail } from "../format/tail.ts"
import { etagOf } from "../format/tail.ts"
import type { Tails } from "./tail-cache.ts"
import type { Turn } from "./write-lock.ts"

export interface TailHost {
  readonly env: Environment
  readonly tails: Tails
  readonly comparing: Comparing
}

/** What to write in the place of a tail, and how to know it again; undefined where there is nothing to do. */
export interface Replacement {
  readonly bytes: Uint8Array
  readonly etags: Manifest["etags"]
  /** As it will be remembered. */
  asTail(etag: string): Tail
}

export interface Replaced {
  readonly before: Tail
  /** False: there was nothing to do. */
  readonly done: boolean
}

/**
 * Looks at the tail and replaces it, again and again until it was this writer who did it, or there is nothing to do. `plan` may
 * throw; `isOwn` tells its own work, whose answer was lost.
 */
export async function replaceTail(
  { env, tails, comparing }: TailHost,
  session: string,
  what: string,
  turn: Turn,
  plan: (tail: Tail) => Promise<Replacement | undefined>,
  isOwn: (tail: Tail) => boolean,
): Promise<Replaced> {
  const key = env.keys.tail(session)
  const patience = startPatience(env)
  let uncertain = false
  let base: Tail | undefined
  let tail = await tails.fetch(session, turn.signal)
  for (;;) {
    if (base !== undefined && isOwn(tail)) return { before: base, done: true }
    const replacement = await plan(tail)
    if (replacement === undefined) return { before: tail, done: false }
    turn.send()
    const condition = comparing.condition(tail, replacement.etags)
    try {
      const { etag } = await once(env, undefined, (signal) =>
        env.store.put(key, replacement.bytes, { signal, ...(condition !== undefined && { condition }) }),
      )
      tails.remember(session, replacement.asTail(etag))
      return { before: tail, done: true }
    } catch (error) {
      const failure =
        error instanceof ObjectStoreError
          ? error
          : new ObjectStoreError("refused", String(error), { certain: false, cause: error })
      uncertain ||= !failure.certain
      base = tail
      tail = await look(env, tails, session, what, failure, uncertain)
      const moved = etagOf(tail) !== etagOf(base)
      // Nobody wrote, and the condition was refused all the same.
      if (!moved && failure.failure === "precondition") await comparing.correct().catch(() => undefined)
      if (moved || (isWorthAnotherTry(failure) && (await patience.pause(failure)))) continue
      if (!uncertain) throw toStorageError(env, failure, `${what} ${session}`, { session, at: key })
      throw unknown(env, session, what, failure)
    }
  }
}

async function look(
  env: Environment,
  tails: Tails,
  session: string,
  what: string,
  failure: ObjectStoreError,
  uncertain: boolean,
): Promise<Tail> {
  try {
    return await tails.fetch(session)
  } catch (error) {
    throw uncertain || !provesNothingDone(failure) ? unknown(env, session, what, failure) : error
  }
}

function unknown(env: Environment, session: string, what: string, failure: ObjectStoreError): Error {
  const message = `Whether it came to ${what} ${session} is not known: the last answer was "${failure.message}". Look again when the store can be reached.`
  return storageError(env, "indeterminate", message, { session, at: env.keys.tail(session) }, failure)
}
