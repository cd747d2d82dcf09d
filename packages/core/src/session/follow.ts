/**
 * `session.follow()`: keeps an open session up to date with other writers. The storage's `watch` says when to refresh or, if it has none,
 * its head, which is asked for at an interval. All calls for one session share this.
 */
import { hasCode } from "../format/errors.ts"
import { onAbort } from "../storage/signals.ts"
import type { Head } from "../storage/contract.ts"
import type { CompactableSession } from "./live-types.ts"

/** Between two questions for the head. On S3 each is one GET, about 1.7 cents a day. */
const INTERVAL_MS = 2_000

/** The longest pause before a storage that does not answer is asked again. Pauses double from {@link INTERVAL_MS}. */
const LONGEST_MS = 30_000

interface FollowableSession extends CompactableSession {
  /** Takes over what other writers appended; `seen` is a head that the storage has reported. */
  refresh(seen?: Head): Promise<Head>
}

export class Following {
  readonly #session: FollowableSession
  /** End the calls of `join`, with the error that has ended following the session. */
  readonly #followers = new Set<(error: unknown) => void>()
  #stop: AbortController | undefined

  constructor(session: FollowableSession) {
    this.#session = session
  }

  /** Follows until the signal fires or `isClosed` answers true; rejects if the session cannot be followed any more. */
  join(signal: AbortSignal | undefined, isClosed: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true || isClosed()) return resolve()
      const { closeListeners } = this.#session
      const leave = (): void => {
        off?.()
        closeListeners.delete(close)
        this.#followers.delete(fail)
        if (this.#followers.size === 0) this.#stop?.abort()
        resolve()
      }
      const close = (): void => {
        if (isClosed()) leave()
      }
      const fail = (error: unknown): void => {
        // Closing the repository closes the storage too.
        if (!isClosed()) reject(error)
        leave()
      }
      const off = signal === undefined ? undefined : onAbort(signal, leave)
      closeListeners.add(close)
      this.#followers.add(fail)
      if (this.#followers.size === 1) this.#start()
    })
  }

  /** Ends all calls with an error that something else has met: the log has lost lines. */
  end(error: unknown): void {
    for (const fail of this.#followers) fail(error)
  }

  #start(): void {
    const stop = (this.#stop = new AbortController())
    follow(this.#session, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) this.end(error)
    })
  }
}

/** Resolves when the signal fires. Rejects with `not_found` if the session was deleted, and with errors that do not pass by themselves. */
async function follow(session: FollowableSession, signal: AbortSignal): Promise<void> {
  /** Longer than {@link INTERVAL_MS} while the storage does not answer, which is reported. */
  let pause = INTERVAL_MS
  const answered = (): void => {
    if (pause > INTERVAL_MS) session.clear("not_followed")
    pause = INTERVAL_MS
  }
  try {
    while (!signal.aborted) {
      try {
        for await (const head of headsOf(session, signal)) {
          await session.refresh(head)
          if (signal.aborted) return
          answered()
        }
        await wait(INTERVAL_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!hasCode(error, "unavailable")) throw error
        if (pause === INTERVAL_MS) session.report({ code: "not_followed", message: messageOf(session, error) })
        const now = pause
        pause = Math.min(2 * pause, LONGEST_MS)
        await wait(now, signal)
      }
    }
  } finally {
    answered()
  }
}

/** The heads of the log, one after the other; undefined: there is none. Endless, unless the storage ends its `watch`. */
async function* headsOf(
  { id, storage }: FollowableSession,
  signal: AbortSignal,
): AsyncGenerator<Head | undefined, void, undefined> {
  if (storage.capabilities.watch && storage.watch !== undefined) {
    // Before the head is read: a change between the two would be missed.
    const changes = storage.watch(id, { signal })
    yield await storage.head(id, { signal })
    yield* changes
    // A watch ends when the session is deleted.
    yield await storage.head(id, { signal })
    return
  }
  while (!signal.aborted) {
    yield await storage.head(id, { signal })
    await wait(INTERVAL_MS, signal)
  }
}

function messageOf({ id }: FollowableSession, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `What other writers append to ${id} does not arrive until the storage answers again, which is tried: ${message}`
}

/** Resolves after this many milliseconds, or when the signal fires; no timer is left then. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      off()
      resolve()
    }
    const timer = setTimeout(done, ms)
    const off = onAbort(signal, done)
    if (signal.aborted) done()
  })
}
