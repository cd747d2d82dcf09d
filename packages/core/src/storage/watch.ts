import { checkSessionId } from "./checks.ts"
import type { Head } from "./contract.ts"
import type { Watch } from "./adapter.ts"

export interface WatchSource {
  /** The head as it is now. */
  readonly look: (session: string) => Head | undefined | Promise<Head | undefined>
  /** Calls `ring` when the log may have changed and `end` when it is gone, until the function that it gives is called. */
  readonly listen: (session: string, ring: () => void, end: () => void) => () => void
  /** Milliseconds after which to look without having heard anything; default never. */
  readonly every?: () => number
}

/**
 * A `watch`. Yields the head whenever it is another than before, coalesced: a reader that was slow gets the latest. Ends, without an
 * error, when the session is gone, at the signal, when the storage is closed, and at once when the reader returns. What changes after
 * the call is told; an iterable that nobody reads holds nothing.
 */
export function watchHeads({ look, listen, every }: WatchSource): Watch {
  return (session, o, { call, closing }) => {
    const what = { doing: "watch the log", session }
    const signal = o?.signal
    let ended = false
    /** A bell may ring while nobody waits. */
    let rang = false
    let wake = (): void => undefined
    const ring = (): void => {
      rang = true
      wake()
    }
    const end = (): void => {
      ended = true
      wake()
    }
    const goesOn = (): boolean => !ended && !closing.aborted && signal?.aborted !== true

    let stop = (): void => undefined
    const started = call(what, undefined, () => {
      checkSessionId(session)
      const head = look(session)
      // What comes while it looks may be in what it sees, and is news all the same.
      if (head instanceof Promise) stop = listen(session, ring, end)
      return head
    }).finally(() => stop())
    started.catch(() => undefined)

    async function* heads(): AsyncGenerator<Head, void, undefined> {
      let seen = await started
      if (seen === undefined || !goesOn()) return
      const silence = listen(session, ring, end)
      signal?.addEventListener("abort", end)
      closing.addEventListener("abort", end)
      try {
        if (rang) yield { next: seen.next, log: seen.log }
        while (goesOn()) {
          const head = await call(what, undefined, () => look(session))
          if (head === undefined || !goesOn()) return
          if (head.next === seen.next && head.log === seen.log) await rung()
          else {
            seen = head
            yield { next: head.next, log: head.log }
          }
        }
      } catch (error) {
        if (goesOn()) throw error
      } finally {
        silence()
        signal?.removeEventListener("abort", end)
        closing.removeEventListener("abort", end)
      }
    }

    function rung(): Promise<void> {
      return new Promise((resolve) => {
        const timer = every === undefined ? undefined : setTimeout(ring, every())
        wake = () => {
          rang = false
          wake = () => undefined
          clearTimeout(timer)
          resolve()
        }
        if (rang || !goesOn()) wake()
      })
    }

    const inner = heads()
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => inner.next(),
        // A generator takes its return only after the next() that is pending, which may never come.
        return() {
          end()
          return inner.return()
        },
      }),
    }
  }
}
