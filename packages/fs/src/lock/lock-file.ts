/** A lock that this process holds: refreshing it, checking that it is still ours, and releasing it. */
import { basename, dirname } from "node:path"
import { CREATE, type Files } from "../disk/files.ts"
import { below, FILE_MODE, FIRST_PART, METADATA_FILE } from "../disk/layout.ts"
import { discard, readStart, writeFully } from "../disk/small-files.ts"
import { errnoOf } from "../disk/errors.ts"
import { type LockOwner, parseOwner } from "./owner.ts"

export interface Lock {
  /** See {@link LockOwner.fence}. */
  readonly fence: boolean
  /** How often its file was refreshed. */
  readonly refreshes: number
  /** Whether no other process can have taken the lock over, because both clocks say that it was refreshed a short while ago. */
  isCertain(): boolean
  /**
   * Touches the file only if the last refresh is older than {@link REFRESH_MS}, or with `now`. `wanted`: held, and another writer
   * waits for it.
   */
  refresh(now?: boolean): "held" | "wanted" | "lost"
  release(): void
}

/**
 * {@link createLockFile} where the file system may have no inode left: then derived files of sessions make room for the lock, since what
 * frees inodes, such as a deletion, takes locks.
 */
export function makeLockFile(files: Files, path: string, owner: LockOwner): boolean {
  try {
    return createLockFile(files, path, owner)
  } catch (error) {
    // Locks elsewhere are of others, and so is what is beside them.
    if (!isFull(error) || basename(dirname(path)) !== ".locks") throw error
    for (const folder of foldersFor(files, path)) {
      // Without a log, it is what tells that the log is gone.
      if (files.lstat(below(folder, FIRST_PART)) === undefined) continue
      if (files.lstat(below(folder, METADATA_FILE)) === undefined) continue
      discard(files, below(folder, METADATA_FILE))
      try {
        return createLockFile(files, path, owner)
      } catch (again) {
        // Another process may have taken the inode.
        if (!isFull(again)) throw again
      }
    }
    throw error
  }
}

export function isFull(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === "ENOSPC" || errno === "EDQUOT"
}

/** Folders of sessions, that of the lock's own session first. */
function* foldersFor(files: Files, lock: string): Generator<string> {
  const root = dirname(dirname(lock))
  const own = basename(lock).replace(/(@docs)?\.lock$/, "")
  const names = files.readdir(root).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  if (names.includes(own)) yield below(root, own)
  for (const name of names) if (!name.startsWith(".") && name !== own) yield below(root, name)
}

/** How often a holder shows that it is alive and looks for waiting writers. */
const REFRESH_MS = 50

/**
 * Creates the file with the owner in it; returns false if the disk has room for the file only. The empty file is a lock too, for a
 * shorter time: it must be possible to delete a session on a full disk.
 */
function createLockFile(files: Files, path: string, owner: LockOwner): boolean {
  const fd = files.open(path, CREATE, FILE_MODE)
  try {
    writeFully(files, fd, Buffer.from(JSON.stringify(owner)))
    return true
  } catch (error) {
    try {
      if (!isFull(error)) throw error
      files.truncate(fd, 0)
      return false
    } catch {
      discard(files, path)
      throw error
    }
  } finally {
    files.close(fd)
  }
}

/** `since` is the time before the file was created, so that a process stopped in between does not take its lock for fresh. */
export function holdLock(
  files: Files,
  path: string,
  owner: LockOwner,
  since: { readonly wall: number; readonly steady: number },
  isNamed: boolean,
): Lock {
  let { wall, steady } = since
  let wanted = false
  let refreshes = 0
  let stamp = files.lstat(path)
  /** By its inode number and the time that was set last. */
  const isSame = (): boolean => {
    const stat = files.lstat(path)
    return (
      stat !== undefined &&
      stat.ino === stamp?.ino &&
      stat.mtimeMs === stamp.mtimeMs &&
      (stat.size === 0) === (stamp.size === 0)
    )
  }
  const isOurs = (): boolean => (isNamed ? ownerIn(files, path)?.token === owner.token : isSame())
  /** Needs no descriptor if none is left: an end must not need what was missing. */
  const mayRemove = (): boolean => {
    try {
      return isOurs()
    } catch {
      return isSame()
    }
  }
  const certain = isNamed ? CERTAIN_MS : NAMELESS_CERTAIN_MS
  const isCertainAt = (at: number): boolean => {
    const byWall = Date.now() - wall
    return byWall >= 0 && byWall < certain && at - steady < certain
  }
  return {
    fence: owner.fence,
    get refreshes() {
      return refreshes
    },
    isCertain: () => isCertainAt(performance.now()),
    refresh(now = false) {
      const at = performance.now()
      if (!now && at - steady < REFRESH_MS && isCertainAt(at)) return wanted ? "wanted" : "held"
      if (!isOurs()) return "lost"
      const date = Date.now()
      files.utimes(path, date)
      stamp = files.lstat(path)
      wall = date
      steady = at
      refreshes++
      wanted = files.lstat(toWaitPath(path)) !== undefined
      return wanted ? "wanted" : "held"
    },
    release() {
      // A lock file that remains looks held by a living process, and others would wait for it.
      for (let tries = 0; tries < RELEASE_TRIES && mayRemove(); tries++) discard(files, path)
    },
  }
}

export function ownerIn(files: Files, path: string): LockOwner | undefined {
  const bytes = readStart(files, path, OWNER_BYTES)
  return bytes === undefined ? undefined : parseOwner(bytes.toString("utf8"))
}

/** Created by a process that waits for the lock. */
export function toWaitPath(path: string): string {
  return `${path}.wait`
}

/** How long a holder trusts its last refresh. Far below {@link STALE_MS}, so that the clocks of both processes may differ. */
const CERTAIN_MS = 2_000
const NAMELESS_CERTAIN_MS = 250
/** More than any owner's description takes. */
const OWNER_BYTES = 4_096
const RELEASE_TRIES = 3
