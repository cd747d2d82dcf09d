/** Noticing that a log was deleted or replaced under its reader. */
import { join } from "node:path"
import { StorageError } from "@sessions/core/storage"
import type { Environment } from "../environment.ts"
import type { FileStat } from "../disk/files.ts"
import { FIRST_PART, IDENTITY_FILE } from "../disk/layout.ts"
import type { LogView } from "../log/view.ts"

export interface Guard {
  /** Throws `conflict` where the log is not the one that the reader began with; one look at a file as long as nothing moved. */
  check(): void
  /** The same by the identity itself. Gives the log as it is now. */
  checkAll(): LogView
}

export function createGuard(env: Environment, session: string, view: LogView): Guard {
  const path = (folder: string): string => join(folder, view.stored ? IDENTITY_FILE : FIRST_PART)
  let folder = view.folder
  let seen = env.files.lstat(path(folder))

  const checkAll = (): LogView => {
    const now = env.view(session)
    if (now?.log !== view.log) {
      const message = `Session ${session} was deleted or replaced while it was read: read it again.`
      throw new StorageError("conflict", message, { session })
    }
    folder = now.folder
    return now
  }

  return {
    check() {
      const stat = env.files.lstat(path(folder))
      if (stat !== undefined && seen !== undefined && isSameFile(stat, seen, view.stored)) return
      checkAll()
      seen = stat
    },
    checkAll,
  }
}

/** A number of a removed file may come again, but not with its times. The log itself, where it stands in for its identity, changes. */
function isSameFile(a: FileStat, b: FileStat, constant: boolean): boolean {
  return a.ino === b.ino && (!constant || (a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs))
}
