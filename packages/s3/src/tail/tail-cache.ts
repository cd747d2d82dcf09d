/** Reads tails, and remembers those seen last: an append needs no look at one that it has just seen. */
import type { Cache } from "../base/lru-cache.ts"
import { createCache } from "../base/lru-cache.ts"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import type { EtagForm } from "../object-store/object-store.ts"
import { ChangedObject, openObject } from "../requests/open-object.ts"
import { startPatience } from "../requests/retry.ts"
import { tailBytesOf } from "../format/manifest.ts"
import type { LiveTail, Tail, Unreadable } from "../format/tail.ts"
import { ABSENT, decodeTail, isUnreadable } from "../format/tail.ts"

export interface Tails {
  /** As it stands. `corrupt` and `unsupported` where it cannot be understood. */
  fetch(session: string, signal?: AbortSignal): Promise<Tail>
  /** The same for a `head`, with which a series of reads begins. */
  fetchForReads(session: string, signal?: AbortSignal): Promise<Tail>
  /** As it was seen last, however long ago: good to write against, since a write says what it expects. */
  known(session: string): Tail | undefined
  /**
   * Of the log that a `head` told of a moment ago, reaching up to `next`: lines below that are what they were. What an append or
   * a read has seen is no such promise: whoever has not asked for a head wants the log as it is now.
   */
  recent(session: string, next: number): LiveTail | undefined
  remember(session: string, tail: Tail): void
  /** How this bucket compares ETags, where a tail told. */
  readonly etags: EtagForm | undefined
}

export function createTails(env: Environment): Tails {
  const { settings, time } = env
  const seen: Cache<Seen> = createCache(settings.cacheBytes)
  let etags: EtagForm | undefined

  function remember(session: string, tail: Tail): void {
    if (tail.kind === "live" && tail.manifest.etags !== "none") etags = tail.manifest.etags
    if (tail.kind === "absent") return seen.delete(session)
    const before = seen.get(session)
    const headAt = before !== undefined && isSameLog(before.tail, tail) ? before.headAt : undefined
    seen.set(session, { tail, headAt }, tail.kind === "live" ? 2_000 + 2 * tailBytesOf(tail.manifest) : 1_000)
  }

  async function fetch(session: string, signal?: AbortSignal): Promise<Tail> {
    const tail = await readTail(env, session, seen.get(session)?.tail, signal)
    remember(session, tail)
    return tail
  }

  return {
    fetch,
    async fetchForReads(session, signal) {
      const tail = await fetch(session, signal)
      const entry = seen.get(session)
      if (entry !== undefined) entry.headAt = time.now()
      return tail
    },
    known: (session) => seen.get(session)?.tail,
    recent(session, next) {
      const entry = seen.get(session)
      if (entry?.tail.kind !== "live" || entry.headAt === undefined) return undefined
      if (time.now() - entry.headAt >= settings.freshFor) return undefined
      return next <= entry.tail.manifest.next ? entry.tail : undefined
    },
    remember,
    get etags() {
      return etags
    },
  }
}

interface Seen {
  readonly tail: Tail
  /** When a `head` told of this log. */
  headAt: number | undefined
}

function isSameLog(one: Tail, other: Tail): boolean {
  return one.kind === "live" && other.kind === "live" && one.manifest.log === other.manifest.log
}

async function readTail(
  env: Environment,
  session: string,
  known: Tail | undefined,
  signal: AbortSignal | undefined,
): Promise<Tail> {
  const key = env.keys.tail(session)
  const comparable = known?.kind === "live" && known.lastModified !== undefined ? known : undefined
  const patience = startPatience(env)
  for (;;) {
    try {
      const object = await openObject(env, key, comparable === undefined ? {} : { unless: comparable.etag }, signal)
      if (object === undefined) return ABSENT
      if (object === "unchanged") return comparable as LiveTail
      const tail = decodeTail(await object.whole(), object)
      if (isUnreadable(tail)) throw unreadable(env, session, key, tail)
      return tail
    } catch (error) {
      // Whoever writes without pause may replace it each time before a slow body has come whole.
      if (error instanceof ChangedObject && (await patience.pause(error, signal))) continue
      throw toStorageError(env, error, `read the tail of ${session}`, { session, at: key })
    }
  }
}

export function unreadable(env: Environment, session: string, key: string, why: Unreadable): Error {
  const place = { session, at: key }
  if (why.kind === "newer") {
    const message = `${key} was written by version ${String(why.version)} of its format, which this version of @sessions/s3 does not know. It is left as it is; use a newer one.`
    return storageError(env, "unsupported", message, place)
  }
  const message = `${key} is not what @sessions/s3 wrote: ${why.why}. It is left as it is; put back an earlier version of the object, or delete it by hand.`
  return storageError(env, "corrupt", message, place)
}
