/**
 * Reads tails and caches them. An append uses the cached tail without asking the store, since its condition fails if another
 * writer has replaced that tail.
 */
import type { Deps } from "../base/deps.ts"
import { createLruCache, type LruCache } from "../base/lru-cache.ts"
import { tailBytesOf } from "../format/manifest.ts"
import { ABSENT, decodeTail, isUnreadable, type LiveTail, type Tail, type Unreadable } from "../format/tail.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { ObjectChangedError, openObject } from "../requests/open-object.ts"
import { type Backoff, startBackoff } from "../requests/retry.ts"
import type { Proof } from "./conditional-writes.ts"

export interface TailCache {
  /** The tail as the store has it now. `corrupt` or `unsupported` if it cannot be decoded. */
  fetch(session: string, signal?: AbortSignal, backoff?: Backoff): Promise<Tail>
  /** Like {@link fetch}, for `head`: lets {@link fresh} answer the reads that follow. */
  fetchForHead(session: string, signal?: AbortSignal): Promise<Tail>
  /** The tail as it was last seen, of any age: good enough for a conditional write. */
  cached(session: string): Tail | undefined
  /**
   * The tail that `head` fetched less than `freshFor` ago, if it has all lines below `next`. A tail seen only by an append or a
   * read does not count: a caller that has not asked for `head` expects the log as it is now.
   */
  fresh(session: string, next: number): LiveTail | undefined
  remember(session: string, tail: Tail): void
  /** The proof of conditional writes that was seen last in a tail. */
  readonly proof: Proof | undefined
}

export function createTailCache(deps: Deps): TailCache {
  const { settings, time } = deps
  const entries: LruCache<CachedTail> = createLruCache(settings.cacheBytes)
  let proof: Proof | undefined

  function remember(session: string, tail: Tail): void {
    if (tail.kind === "live" && tail.manifest.proven !== undefined) proof = tail.manifest
    if (tail.kind === "absent") return entries.delete(session)
    const before = entries.get(session)
    const headAt = before !== undefined && isSameLog(before.tail, tail) ? before.headAt : undefined
    // Strings take up to two bytes a character, a manifest about 2 KB.
    entries.set(session, { tail, headAt }, tail.kind === "live" ? 2_000 + 2 * tailBytesOf(tail.manifest) : 1_000)
  }

  async function fetch(session: string, signal?: AbortSignal, backoff?: Backoff): Promise<Tail> {
    const tail = await readTail(deps, session, entries.get(session)?.tail, signal, backoff)
    remember(session, tail)
    return tail
  }

  return {
    fetch,
    async fetchForHead(session, signal) {
      const tail = await fetch(session, signal)
      const entry = entries.get(session)
      if (entry !== undefined) entry.headAt = time.now()
      return tail
    },
    cached: (session) => entries.get(session)?.tail,
    fresh(session, next) {
      const entry = entries.get(session)
      if (entry?.tail.kind !== "live" || entry.headAt === undefined) return undefined
      if (time.now() - entry.headAt >= settings.freshFor) return undefined
      return next <= entry.tail.manifest.next ? entry.tail : undefined
    },
    remember,
    get proof() {
      return proof
    },
  }
}

interface CachedTail {
  readonly tail: Tail
  /** When `head` last fetched this log. */
  headAt: number | undefined
}

function isSameLog(one: Tail, other: Tail): boolean {
  return one.kind === "live" && other.kind === "live" && one.manifest.log === other.manifest.log
}

async function readTail(
  deps: Deps,
  session: string,
  cached: Tail | undefined,
  signal: AbortSignal | undefined,
  backoff: Backoff = startBackoff(deps),
): Promise<Tail> {
  const key = deps.keys.tail(session)
  const known = cached?.kind === "live" && cached.lastModified !== undefined ? cached : undefined
  for (;;) {
    try {
      const object = await openObject(deps, key, known === undefined ? {} : { unless: known.etag }, signal, backoff)
      if (object === undefined) return ABSENT
      if (object === "unchanged") return known as LiveTail
      const tail = decodeTail(await object.readAll(), object)
      if (isUnreadable(tail)) throw unreadableError(deps, session, key, tail)
      return tail
    } catch (error) {
      // A busy writer may replace the tail before a slow body has arrived.
      if (error instanceof ObjectChangedError && (await backoff.pause(error, signal))) continue
      throw toStorageError(deps, error, `read the tail of ${session}`, { session, at: key })
    }
  }
}

export function unreadableError(deps: Deps, session: string, key: string, why: Unreadable): Error {
  const location = { session, at: key }
  if (why.kind === "newer") {
    const message = `${key} was written by version ${String(why.version)} of its format, which this version of @sessions/s3 does not know. It is left as it is; use a newer one.`
    return storageError(deps, "unsupported", message, location)
  }
  const message = `${key} is not as @sessions/s3 wrote it: ${why.why}. It is left as it is: look at it with another client, since something on the way may have changed the answer, and put back an earlier version of the object if it is damaged.`
  return storageError(deps, "corrupt", message, location)
}
