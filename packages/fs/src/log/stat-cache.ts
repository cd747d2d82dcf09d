/**
 * Tells from file times whether a session's folder changed since it was last read. Creating, removing or replacing a file changes the
 * folder's own modification time, so a folder with the same time has the same parts, and need not be listed again.
 */
import type { FileStat, Files } from "../disk/files.ts"
import { below, IDENTITY_FILE } from "../disk/layout.ts"

export interface FolderStat {
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number
  readonly folder: FileStat
  /** Stat of `log.id`; undefined if the log has no such file. */
  readonly identity: FileStat | undefined
}

/** Undefined if there is no folder. */
export function statFolder(files: Files, folder: string): FolderStat | undefined {
  const at = Date.now()
  const stat = files.lstat(folder)
  if (stat?.isDirectory() !== true) return undefined
  return { at, folder: stat, identity: statIdentity(files, folder) }
}

export function statIdentity(files: Files, folder: string): FileStat | undefined {
  return files.lstat(below(folder, IDENTITY_FILE))
}

/** True only if no file of the folder can have been created, removed or replaced between the two. */
export function isUnchanged(before: FolderStat, now: FolderStat): boolean {
  if (before.identity === undefined || now.identity === undefined) return false
  // Not all systems keep the time of a folder. If its files are newer than the folder itself, the time proves nothing.
  if (before.identity.mtimeMs - before.folder.mtimeMs > COARSE_STEP_MS) return false
  return (
    isOldEnough(before.folder, before.at) &&
    isSameFile(before.folder, now.folder) &&
    isSameFile(before.identity, now.identity)
  )
}

/** Whether any change after `at` gives the file another time than it had then: one within the same step of the clock does not. */
export function isOldEnough(file: FileStat, at: number): boolean {
  return at - file.mtimeMs >= (file.mtimeMs % 1_000 === 0 ? COARSE_STEP_MS : FINE_STEP_MS)
}

/** The inode number of a removed file may be used again, but not together with its times. */
export function isSameFile(a: FileStat, b: FileStat): boolean {
  return a.ino === b.ino && a.ctimeMs === b.ctimeMs && a.mtimeMs === b.mtimeMs
}

/** Step of modification times without a fraction of a second: FAT, the coarsest of the common file systems, has steps of two seconds. */
const COARSE_STEP_MS = 2_000
/** Step of times with a fraction: a tick of the system's clock, at most 16 ms, with a margin. */
const FINE_STEP_MS = 100
