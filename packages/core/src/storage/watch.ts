/** Makes the `watch` of a storage from a function that reads the head and a subscription to changes. */
import { isThenable } from "./calls.ts"
import { checkSessionId } from "./checks.ts"
import type { Head } from "./contract.ts"
import type { Watch } from "./adapter.ts"
import { isSameLine } from "./head.ts"
import { onAbort } from "./signals.ts"

export interface WatchSource {
  /** Reads the current head; undefined if there is no session. */
  readonly head: (session: string) => Head | undefined | Promise<Head | undefined>
  /** Calls `changed` when the log may have changed and `deleted` when it is gone, until the returned function is called. */
  readonly subscribe: (session: string, changed: () => void, deleted: () => void) => () => void
  /** Milliseconds without a notification after which the head is read anyway. Default: never. */
  readonly interval?: () => number
}

/**
 * A `watch` that yields the head whenever it differs from the last one. Changes coalesce: a slow reader gets the latest head. It ends,
 * without an error, when the session is gone, the signal fires or the storage is closed, and at once when the reader returns. Every
 * change after the call is reported; an iterable that is never read holds no subscription.
 */
export function watchHeads({ head, subscribe, interval }: WatchSource): Watch {
  return (session, o, { call, closing }) => {
    const what = { doing: "watch the log", session }
    const signal = o?.signal
    let ended = false
    /** A notification arrived while no `next()` was waiting for one. */
    let notified = false
    let wake = (): void => undefined
    const changed = (): void => {
      notified = true
      wake()
    }
    const end = (): void => {
      ended = true
      wake()
    }
    const isActive = (): boolean => !ended && !closing.aborted && signal?.aborted !== true

    let unsubscribeFirst = (): void => undefined
    const started = call(what, undefined, () => {
      checkSessionId(session)
      const first = head(session)
      // A change during an asynchronous read may already be in its result, but must still be reported.
      if (isThenable(first)) unsubscribeFirst = subscribe(session, changed, end)
      return first
    }).finally(() => unsubscribeFirst())
    started.catch(() => undefined)

    async function* heads(): AsyncGenerator<Head, void, undefined> {
      let last = await started
      if (last === undefined || !isActive()) return
      const unsubscribe = subscribe(session, changed, end)
      const offs = [closing, ...(signal === undefined ? [] : [signal])].map((one) => onAbort(one, end))
      try {
        if (notified) yield headOnly(last)
        while (isActive()) {
          const current = await call(what, undefined, () => head(session))
          if (current === undefined || !isActive()) return
          if (current.next === last.next && current.log === last.log && isSameLine(current, last))
            await nextNotification()
          else {
            last = current
            yield headOnly(current)
          }
        }
      } catch (error) {
        if (isActive()) throw error
      } finally {
        unsubscribe()
        for (const off of offs) off()
      }
    }

    function nextNotification(): Promise<void> {
      return new Promise((resolve) => {
        const timer = interval === undefined ? undefined : setTimeout(changed, interval())
        wake = () => {
          notified = false
          wake = () => undefined
          clearTimeout(timer)
          resolve()
        }
        if (notified || !isActive()) wake()
      })
    }

    const inner = heads()
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => inner.next(),
        // A generator handles return() only after its pending next(), which may never settle.
        return() {
          end()
          return inner.return()
        },
      }),
    }
  }
}

function headOnly({ next, log, mark }: Head): Head {
  return mark === undefined ? { next, log } : { next, log, mark }
}
