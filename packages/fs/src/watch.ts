/** Hints that a log grew, whoever wrote to it. */
import type { Head } from "@sessions/core/storage"
import type { Environment } from "./environment.ts"
import type { SessionPaths } from "./layout.ts"

/** How often to look where the system does not tell; it also catches what a system's notice may leave out. */
const POLL_MS = 250

/** Yields a head whenever it differs from the one before, starting with what stands now. Ends when the session is gone, or at the signal. */
export function watchLog(env: Environment, paths: SessionPaths, signal: AbortSignal | undefined): AsyncIterable<Head> {
  // Taken now, not when the first value is asked for: what is appended in between is news.
  let seen = headOf(env, paths.session)
  return {
    async *[Symbol.asyncIterator]() {
      const bell = createBell(env, paths.folder, signal)
      try {
        while (seen !== undefined && signal?.aborted !== true) {
          const head = headOf(env, paths.session)
          if (head === undefined) return
          if (head.next === seen.next && head.log === seen.log) {
            await bell.rung()
            continue
          }
          seen = head
          yield head
        }
      } finally {
        bell.close()
      }
    },
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
  /** Resolves at a notice of the system, at the signal, and after {@link POLL_MS} at the latest. */
  rung(): Promise<void>
  close(): void
}

function createBell(env: Environment, folder: string, signal: AbortSignal | undefined): Bell {
  let ring = (): void => undefined
  /** A notice may come while nobody waits. */
  let rang = false
  const notify = (): void => {
    rang = true
    ring()
  }
  let watcher: { close(): void } | undefined
  try {
    watcher = env.files.watch(folder, notify)
  } catch {
    // No notices here (a network file system, no inotify handles left): looking every POLL_MS does without.
  }
  signal?.addEventListener("abort", notify)
  return {
    rung: () =>
      new Promise((resolve) => {
        const timer = setTimeout(notify, POLL_MS)
        ring = () => {
          rang = false
          clearTimeout(timer)
          resolve()
        }
        if (rang) ring()
      }),
    close() {
      watcher?.close()
      signal?.removeEventListener("abort", notify)
    },
  }
}
