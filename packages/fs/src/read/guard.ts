/** Detects that a log was deleted or replaced while it is being read. */
import { StorageError } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { below, FIRST_PART } from "../disk/layout.ts"
import { readIdentity } from "../log/identity.ts"
import { isOldEnough, isSameFile, statIdentity } from "../log/stat-cache.ts"
import type { LogView } from "../log/view.ts"

export interface LogGuard {
  /**
   * Returns the folder that holds the log; throws `conflict` if it is not the log that the reader began with. One `lstat` if the
   * identity file is the same as before; without that file two, if the first part is the same.
   */
  check(): string
  /** The same, with the log as its files are now. */
  reload(): LogView
}

export function createGuard(deps: Deps, session: string, view: LogView): LogGuard {
  const { files } = deps
  let { folder } = view
  let { at, identity } = view.stat

  const reload = (): LogView => {
    const now = deps.view(session)
    if (now?.log !== view.log) {
      const message = `Session ${session} was deleted or replaced while it was read: read it again.`
      throw new StorageError("conflict", message, { session })
    }
    folder = now.folder
    return now
  }

  return {
    check() {
      const checkedAt = Date.now()
      const now = statIdentity(files, folder) ?? files.lstat(below(folder, FIRST_PART))
      if (now !== undefined && identity !== undefined && isSameFile(now, identity) && isOldEnough(identity, at))
        return folder
      if (readIdentity(files, folder)?.log !== view.log) return reload().folder
      at = checkedAt
      identity = now
      return folder
    },
    reload,
  }
}
