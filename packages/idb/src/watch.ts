import type { Head } from "@sessions/core/storage"
import type { Bells } from "./bells.ts"

/** How often to look where no other tab is heard. */
const POLL_MS = 250
/** How often to look else: a tab that was closed after its transaction, and before it rang, is heard of so. */
const FALLBACK_MS = 5_000

export interface WatchOptions {
  readonly session: string
  readonly bells: Bells
  readonly signal: AbortSignal | undefined
  readonly closed: () => boolean
  /** The head as it is stored now. */
  readonly look: () => Promise<Head | undefined>
}

/**
 * Yields the head whenever it is another than before, coalesced: a reader that was slow gets the latest. Ends, without an error,
 * when the session is gone, at the signal, when the storage is closed, and at once when the reader returns.
 */
export function watchLog({ session, bells, signal, closed, look }: WatchOptions): AsyncIterable<Head> {
  // Looked at now, not when the first value is asked for: what is appended in between is news.
  const started = look()
  const ringsBefore = bells.rings()
  started.catch(() => undefined)
  let ended = false
  let wake = (): void => undefined
  /** A bell may ring while nobody waits. */
  let rang = false
  const ring = (): void => {
    rang = true
    wake()
  }
  const goesOn = (): boolean => !ended && !closed() && signal?.aborted !== true

  async function* heads(): AsyncGenerator<Head, void, undefined> {
    const remove = bells.add(session, ring)
    signal?.addEventListener("abort", ring)
    try {
      const missed = bells.rings() !== ringsBefore
      let seen = await started
      // Looking takes a while. What may have come meanwhile is told, rather too often than never.
      if (seen !== undefined && goesOn() && (missed || rang || !bells.reachesOthers)) {
        rang = false
        yield { next: seen.next, log: seen.log }
      }
      while (seen !== undefined && goesOn()) {
        await rung()
        if (!goesOn()) return
        const head = await look()
        if (head === undefined || !goesOn()) return
        if (head.next === seen.next && head.log === seen.log) continue
        seen = head
        yield { next: head.next, log: head.log }
      }
    } catch (error) {
      if (goesOn()) throw error
    } finally {
      remove()
      signal?.removeEventListener("abort", ring)
    }
  }

  function rung(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(ring, bells.reachesOthers ? FALLBACK_MS : POLL_MS)
      wake = () => {
        rang = false
        wake = () => undefined
        clearTimeout(timer)
        resolve()
      }
      if (rang) wake()
    })
  }

  const inner = heads()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => inner.next(),
      // A generator takes its return only after the next() that is pending, which may never come.
      return() {
        ended = true
        ring()
        return inner.return()
      },
    }),
  }
}
