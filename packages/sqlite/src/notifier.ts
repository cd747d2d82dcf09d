/**
 * Tells watchers that a log may have changed: at once for the writes of this storage object, and within 100 ms for those of other
 * connections. One statement on shared memory says whether any has committed, however many watchers there are.
 */
import { createListeners } from "@sessions/core/storage"

export interface Notifier {
  /** Returns the function that ends the subscription. */
  readonly subscribe: (session: string, listener: () => void) => () => void
  readonly changed: (session: string) => void
}

const POLL_MS = 100

/** `dataVersion`: a number that changes with each commit of another connection. */
export function createNotifier(dataVersion: () => number | undefined): Notifier {
  const listeners = createListeners()
  let timer: ReturnType<typeof setInterval> | undefined
  let version: number | undefined

  function poll(): void {
    const current = readVersion()
    if (current === version) return
    version = current
    for (const session of listeners.sessions) listeners.notify(session)
  }

  /** Undefined if the file is locked or fails: the listeners then read the head, which waits or rejects. */
  function readVersion(): number | undefined {
    try {
      return dataVersion()
    } catch {
      return undefined
    }
  }

  return {
    changed: listeners.notify,
    subscribe(session, listener) {
      const remove = listeners.add(session, listener)
      if (timer === undefined) {
        version = readVersion()
        timer = setInterval(poll, POLL_MS)
      }
      return () => {
        remove()
        if (!listeners.isEmpty) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
