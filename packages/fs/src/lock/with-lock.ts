/** Runs one piece of work under a lock. */
import { StorageError } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { type AcquireOptions, acquireLock } from "./lock.ts"

/** Often enough for a lock without an owner in it, which is stale after a second. */
const REFRESH_EVERY_MS = 200

/**
 * Keeps the lock fresh however long the disk takes. `checkHeld` throws `unavailable` if another process took the lock over because
 * this one was stopped; call it right before the step that commits.
 */
export async function withLock<T>(
  files: Files,
  path: string,
  o: AcquireOptions,
  work: (checkHeld: () => void) => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(files, path, o)
  const timer = setInterval(() => {
    try {
      lock.refresh(true)
    } catch {
      // `checkHeld` refreshes again before the step that commits.
    }
  }, REFRESH_EVERY_MS)
  const checkHeld = (): void => {
    if (lock.refresh(true) !== "lost") return
    const message = `The lock at ${path} was taken over while this process stood still; nothing was changed. Repeat the call.`
    throw new StorageError("unavailable", message, { at: path })
  }
  try {
    return await work(checkHeld)
  } finally {
    clearInterval(timer)
    release(lock)
  }
}

/** The work is done whether or not the file can be removed; otherwise the lock becomes stale. */
function release(lock: { release(): void }): void {
  try {
    lock.release()
  } catch {
    // The lock is no longer refreshed, so others take it over.
  }
}
