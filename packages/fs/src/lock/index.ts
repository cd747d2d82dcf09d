/** The lock of this storage for packages that change files of their own, as `@sessions/fs/lock`. */
import type { CallOptions } from "@sessions/core/storage"
import { toStorageError } from "../disk/errors.ts"
import { nodeFiles } from "../disk/files.ts"
import { withLock } from "./with-lock.ts"

export { toStorageError } from "../disk/errors.ts"

export interface FileLockOptions extends CallOptions {
  /** Milliseconds to wait for another holder. Default 10,000. */
  readonly timeout?: number
}

/**
 * Runs `work` while this call holds the lock at `path`, which no other call has meanwhile, in any process of this host. The lock is a file
 * that is refreshed during the work and removed after it; the folder is made if it is missing, with mode 0700. If a process dies with the
 * lock, the next call takes it over: at once where the system shows that the process is gone, else after 10 s.
 *
 * A process that stood still for longer than that may have lost the lock. So call `checkHeld` immediately before the step that makes the
 * change visible, such as a rename: it throws `unavailable` if the lock is lost.
 *
 * Rejects with `unavailable` after `timeout`, `aborted` at the signal while it waits, `quota` if there is no space for the lock, as a failure of
 * the file system; else with
 * what `work` throws. The folder of the lock must not be a link.
 */
export async function withFileLock<T>(
  path: string,
  work: (checkHeld: () => void) => Promise<T>,
  { timeout = 10_000, signal }: FileLockOptions = {},
): Promise<T> {
  let isHeld = false
  try {
    return await withLock(nodeFiles, path, { timeout, signal }, (checkHeld) => {
      isHeld = true
      return work(checkHeld)
    })
  } catch (error) {
    throw isHeld ? error : toStorageError(error, "take the lock", { at: path })
  }
}
