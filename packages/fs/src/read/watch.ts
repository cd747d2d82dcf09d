/** Hints that a log grew, whoever wrote to it. */
import type { Head } from "@sessions/core/storage"
import type { Environment } from "../environment.ts"
import type { SessionPaths } from "../disk/layout.ts"

/** How often to look where the system does not tell; it also catches what a system's notice may leave out. */
const POLL_MS = 250

/**
 * Yields the head whenever it is another than before, coalesced: a reader that was slow gets the latest. Ends, without an error,
 * when the session is gone, at the signal, when the storage is closed, and at once when the reader returns.
 */
export function watchLog(
  env: Environment,
  paths: SessionPaths,
  signal: AbortSignal | undefined,
  closed: () => boolean,
): AsyncIterable<Head> {
  // Taken now, not when the first value is asked for: what is appended in between is news.
  let seen = headOf(env, paths.session)
  let ended = false
  const goesOn = (): boolean => seen !== undefined && !ended && !closed() && signal?.aborted !== true

  async function* heads(): AsyncGenerator<Head, void, undefined> {
    const bell = createBell(env, paths, signal)
    ring = bell.ring
    try {
      while (goesOn()) {
        const head = headOf(env, paths.session)
        if (head === undefined) return
        if (head.next === seen?.next && head.log === seen.log) {
          await bell.rung()
          continue
        }
        seen = head
        yield head
      }
    } finally {
      bell.close()
    }
  }

  let ring = (): void => undefined
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

function headOf(env: Environment, session: string): Head | undefined {
  try {
    const view = env.view(session)
    return view === undefined ? undefined : { next: view.next, log: view.log }
  } catch (error) {
    throw env.error(error, "watch the log", session)
  }
}

interface Bell {
  readonly ring: () => void
  /** Resolves at a notice of the system or of this storage, at the signal, and after {@link POLL_MS} at the latest. */
  rung(): Promise<void>
  close(): void
}

function createBell(env: Environment, { session, folder }: SessionPaths, signal: AbortSignal | undefined): Bell {
  let wake = (): void => undefined
  /** A notice may come while nobody waits. */
  let rang = false
  const ring = (): void => {
    rang = true
    wake()
  }
  const watcher = watchFolder(env, folder, ring)
  const remove = env.bells.add(session, ring)
  signal?.addEventListener("abort", ring)
  return {
    ring,
    rung: () =>
      new Promise((resolve) => {
        const timer = setTimeout(ring, POLL_MS)
        wake = () => {
          rang = false
          clearTimeout(timer)
          resolve()
        }
        if (rang) wake()
      }),
    close() {
      watcher?.close()
      remove()
      signal?.removeEventListener("abort", ring)
    },
  }
}

/** Undefined where the system gives no notices (a network file system, no handles left): looking every {@link POLL_MS} does without. */
function watchFolder(
  env: Environment,
  folder: string,
  ring: () => void,
): ReturnType<Environment["files"]["watch"]> | undefined {
  try {
    return env.files.watch(folder, ring)
  } catch {
    return undefined
  }
}
