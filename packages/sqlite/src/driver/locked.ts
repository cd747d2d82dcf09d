/** Waits in JavaScript while another connection has locked the file. `busy_timeout` would wait by blocking the event loop. */
import { checkSignal } from "@sessions/core/storage"
import { toStorageError } from "./errors.ts"
import { BUSY, LOCKED, resultCode } from "./library.ts"

export interface LockedOptions {
  /** The file, for the text of the error. */
  readonly path: string
  /** Milliseconds from the first attempt to the last. */
  readonly timeout: number
  /** Ends the waiting with `aborted`. */
  readonly signal?: AbortSignal | undefined
}

/** Writers in other processes hold the lock for one transaction: some milliseconds if it waits for the disk. */
export const LONGEST_PAUSE_MS = 32

/**
 * Calls `attempt`, and again after growing random pauses while it throws because the file is locked; the event loop is free meanwhile.
 * `attempt` must leave nothing behind when it throws: a transaction that it began must be rolled back. The connection should have
 * `PRAGMA busy_timeout = 0`.
 *
 * Rejects with `unavailable` if the file is still locked after `timeout`, and with other errors of SQLite as {@link toStorageError} gives them.
 */
export async function retryWhileLocked<T>(attempt: () => T, { path, timeout, signal }: LockedOptions): Promise<T> {
  const until = performance.now() + timeout
  for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    checkSignal(signal)
    try {
      return attempt()
    } catch (error) {
      if (!isLocked(error) || performance.now() >= until) throw toStorageError(error, path, timeout)
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)))
  }
}

function isLocked(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}
