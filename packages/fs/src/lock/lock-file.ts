/** A lock in hand: kept fresh, looked at, given back. */
import { CREATE, type Files } from "../disk/files.ts"
import { FILE_MODE } from "../disk/layout.ts"
import { discard, readStart, writeFully } from "../disk/small-files.ts"
import { errnoOf } from "../disk/errors.ts"
import { type LockOwner, parseOwner } from "./owner.ts"

export interface Lock {
  /** See {@link LockOwner.fence}. */
  readonly fence: boolean
  /** How often it was refreshed in its file. */
  readonly refreshes: number
  /** Whether nobody can have taken the lock over: it was refreshed a short while ago by every clock. */
  isCertain(): boolean
  /** Costs nothing when the last refresh is younger than {@link REFRESH_MS}. `wanted`: ours, and another writer waits for it. */
  refresh(now?: boolean): "held" | "wanted" | "lost"
  release(): void
}

/** How often a holder says that it is alive, and looks whether another one waits. */
const REFRESH_MS = 50

/**
 * Makes the file, with the owner in it; false where the disk has room for the one and not for the other. A session must be deletable
 * on a full disk, of all disks, so the empty file is a lock as well, for a shorter time.
 */
export function createLockFile(files: Files, path: string, owner: LockOwner): boolean {
  const fd = files.open(path, CREATE, FILE_MODE)
  try {
    writeFully(files, fd, Buffer.from(JSON.stringify(owner)))
    return true
  } catch (error) {
    const errno = errnoOf(error)
    try {
      if (errno !== "ENOSPC" && errno !== "EDQUOT") throw error
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

/** `since`: before the lock was made, so that one who was stopped in the middle of that does not take it for fresh. */
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
  let stamp = isNamed ? undefined : files.lstat(path)
  /** A file without an owner in it is told from another one by its number and the time that was set last. */
  const isOurs = (): boolean => {
    if (isNamed) return ownerIn(files, path)?.token === owner.token
    const stat = files.lstat(path)
    return stat !== undefined && stat.size === 0 && stat.ino === stamp?.ino && stat.mtimeMs === stamp.mtimeMs
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
      if (!isNamed) stamp = files.lstat(path)
      wall = date
      steady = at
      refreshes++
      wanted = files.lstat(toWaitPath(path)) !== undefined
      return wanted ? "wanted" : "held"
    },
    release() {
      // A lock that stays is held by a living process for all that others can see, and they would wait for it.
      for (let tries = 0; tries < RELEASE_TRIES && isOurs(); tries++) discard(files, path)
    },
  }
}

export function ownerIn(files: Files, path: string): LockOwner | undefined {
  const bytes = readStart(files, path, OWNER_BYTES)
  return bytes === undefined ? undefined : parseOwner(bytes.toString("utf8"))
}

/** Left by whoever waits for the lock. */
export function toWaitPath(path: string): string {
  return `${path}.wait`
}

/** How long a holder trusts its last refresh. Far below {@link STALE_MS}, so that both sides' clocks may differ a good deal. */
const CERTAIN_MS = 2_000
const NAMELESS_CERTAIN_MS = 250
/** More than the description of any owner takes. */
const OWNER_BYTES = 4_096
const RELEASE_TRIES = 3
