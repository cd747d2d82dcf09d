/**
 * Whether a session's folder is as it was when it was last looked at. Everything that makes, removes or replaces a file in it changes
 * the folder's own time, so that in one that is the same the parts are the same, and need not be listed again.
 */
import type { FileStat, Files } from "../disk/files.ts"
import { below, IDENTITY_FILE } from "../disk/layout.ts"

export interface Place {
  /** When it was looked at. */
  readonly at: number
  readonly folder: FileStat
  /** Of the file with the log's identity; undefined where the log has none of its own. */
  readonly identity: FileStat | undefined
}

/** Undefined where no folder is. */
export function statFolder(files: Files, folder: string): Place | undefined {
  const at = Date.now()
  const stat = files.lstat(folder)
  if (stat?.isDirectory() !== true) return undefined
  return { at, folder: stat, identity: files.lstat(below(folder, IDENTITY_FILE)) }
}

export function isUnchanged(before: Place, now: Place): boolean {
  if (before.identity === undefined || now.identity === undefined) return false
  // Not all systems keep the time of a folder: where its files are newer than itself, it says nothing.
  if (before.identity.mtimeMs - before.folder.mtimeMs > COARSEST_STEP_MS) return false
  return (
    isOldEnough(before.folder, before.at) &&
    isSameFile(before.folder, now.folder) &&
    isSameFile(before.identity, now.identity)
  )
}

/** Whether a file that was like this at some time had not changed just before, and so cannot change unseen. */
export function isOldEnough(file: FileStat, at: number): boolean {
  return at - file.mtimeMs >= COARSEST_STEP_MS
}

/** A number of a removed file may come again, but not with its times. */
export function isSameFile(a: FileStat, b: FileStat): boolean {
  return a.ino === b.ino && a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs
}

/** Time stamps move in steps, on FAT of two seconds: what changed within the last one may change again and look the same. */
const COARSEST_STEP_MS = 2_000
