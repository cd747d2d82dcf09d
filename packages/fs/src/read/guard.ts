/** Noticing that a log was deleted or replaced under its reader. */
import { StorageError } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import type { FileStat } from "../disk/files.ts"
import { below, FIRST_PART, IDENTITY_FILE } from "../disk/layout.ts"
import { isSameFile } from "../log/stat-cache.ts"
import type { LogView } from "../log/view.ts"

export interface Guard {
  /** Throws `conflict` where the log is not the one that the reader began with; one look at a file as long as nothing moved. */
  check(): void
  /** The same by the identity itself. Gives the log as it is now. */
  checkAll(): LogView
}

export function createGuard(deps: Deps, session: string, view: LogView): Guard {
  const path = (folder: string): string => below(folder, view.stored ? IDENTITY_FILE : FIRST_PART)
  let folder = view.folder
  let seen = view.stored ? view.place.identity : deps.files.lstat(path(folder))

  const checkAll = (): LogView => {
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
      const stat = deps.files.lstat(path(folder))
      // Where the log itself stands in for its identity, its times change.
      const isSame = view.stored ? isSameFile : hasSameNumber
      if (stat !== undefined && seen !== undefined && isSame(stat, seen)) return
      checkAll()
      seen = stat
    },
    checkAll,
  }
}

function hasSameNumber(a: FileStat, b: FileStat): boolean {
  return a.ino === b.ino
}
