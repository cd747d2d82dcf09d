/** One piece of work under a lock. */
import { StorageError } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { type AcquireOptions, acquireLock } from "./lock.ts"

/** Often enough for a lock without a name, which is stale after a second. */
const REFRESH_EVERY_MS = 200

/**
 * Runs the work under the lock, which is kept fresh however long the disk takes. `checkHeld` throws `unavailable` where the lock was
 * taken over all the same, since this process stood still: to be called right before the step that counts.
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
      // The step that counts looks again.
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

/** What was done is done, whether or not the file could be removed: others take it over in time. */
function release(lock: { release(): void }): void {
  try {
    lock.release()
  } catch {
    // It is not refreshed any more.
  }
}
