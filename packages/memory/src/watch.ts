import type { Head } from "@sessions/core/storage"
import type { MemoryLocation, Watcher } from "./location.ts"
import { headOf } from "./location.ts"

/**
 * Heads of a session as they change: each time the latest, so that a slow reader skips what it missed. Ends with `signal`, when
 * the session is deleted, when the reader returns (also while it waits), and when `closing` is called by the storage's dispose.
 *
 * Registered from the first `next()` on, so an iterable that nobody reads holds nothing.
 */
export function watchHeads(
  location: MemoryLocation,
  session: string,
  signal: AbortSignal | undefined,
  closing: Set<() => void>,
  enter: () => void,
): AsyncIterable<Head> {
  // A change between this call and the first next() is one the reader has not seen.
  const started = location.logs.get(session)
  let seen = started === undefined ? undefined : headOf(started)
  let ended = false
  const goesOn = (): boolean => !ended && signal?.aborted !== true
  let wake: () => void = () => {}
  const end = (): void => {
    ended = true
    wake()
  }

  async function* heads(): AsyncGenerator<Head, void, undefined> {
    enter()
    const release = subscribe(location, session, { wake: () => wake(), end })
    closing.add(end)
    signal?.addEventListener("abort", end)
    try {
      while (goesOn()) {
        const log = location.logs.get(session)
        if (log === undefined) return
        if (seen?.next === log.lines.length && seen.log === log.id) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        seen = headOf(log)
        yield seen
      }
    } finally {
      release()
      closing.delete(end)
      signal?.removeEventListener("abort", end)
    }
  }

  const inner = heads()
  return {
    [Symbol.asyncIterator]() {
      return {
        next: () => inner.next(),
        // A generator takes its return only after the next() that is pending, which may never come.
        return: () => {
          end()
          return inner.return()
        },
      }
    },
  }
}

function subscribe(location: MemoryLocation, session: string, watcher: Watcher): () => void {
  const watchers = location.watchers.get(session) ?? new Set()
  location.watchers.set(session, watchers.add(watcher))
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0 && location.watchers.get(session) === watchers) location.watchers.delete(session)
  }
}
