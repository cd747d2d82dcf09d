/**
 * The root folder: refuses one that other users may write, and makes its content and its name durable. The root may be a symbolic link;
 * below it no link is followed.
 */
import { dirname } from "node:path"
import { StorageError } from "@sessions/core/storage"
import { errnoOf, isMissing } from "./errors.ts"
import { type Files, type FileStat, READ_LINKED } from "./files.ts"
import { isPermitted } from "./permission.ts"
import { syncOpened } from "./small-files.ts"

export interface Root {
  /**
   * Call before each use. Throws `invalid` if group or others may write the root. Looks at it until it exists, and records which folders
   * above it are missing and will be made with it.
   */
  use(): void
  /**
   * Makes renames and new names in the root durable, and once also the root's own name and those of the folders that were made with it.
   *
   * A parent that this process may not open is skipped, except by a storage with `isStrict` whose root was missing before.
   */
  sync(): Promise<void>
}

interface RootOptions {
  readonly isStrict: boolean
  /** Whether other users may write the root. */
  readonly isShared: boolean
}

export function createRoot(files: Files, path: string, { isStrict, isShared }: RootOptions): Root {
  const parent = dirname(path)
  let isFound = false
  /** The lowest folder above the root that existed before the root was made; undefined if the root existed. */
  let base: string | undefined
  let isNameDurable = false

  const syncAbove = async (folder: string): Promise<void> => {
    try {
      if (!isReadable(folder)) throw Object.assign(new Error(`Deno may not read ${folder}`), { name: "NotCapable" })
      await syncOpened(files, folder, READ_LINKED)
    } catch (error) {
      if (!isRefusal(error) || (isStrict && base !== undefined)) throw error
    }
  }

  return {
    use() {
      if (isFound) return
      const stat = statOf(files, path)
      if (stat === undefined) base ??= existingFrom(files, parent)
      else if (!isShared) checkPermissions(path, stat)
      isFound = stat !== undefined
    },
    async sync() {
      await syncOpened(files, path, READ_LINKED)
      if (isNameDurable) return
      const end = base ?? parent
      for (let folder = parent; ; folder = dirname(folder)) {
        await syncAbove(folder)
        if (folder === end || folder === dirname(folder)) break
      }
      isNameDurable = true
    },
  }
}

/** Follows a link; undefined if nothing is there. */
function statOf(files: Files, path: string): FileStat | undefined {
  const stat = files.lstat(path)
  if (stat === undefined || stat.isDirectory() || stat.isFile()) return stat
  try {
    const fd = files.open(path, READ_LINKED)
    try {
      return files.fstat(fd)
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const OTHERS_WRITE = 0o022
/** In such a folder, as `/tmp` is one, users rename and remove only what is theirs. */
const STICKY = 0o1000

/** A user who can write the root can exchange the folders in it, although their own mode is 0700. `ssh` refuses its folder for the same reason. */
function checkPermissions(path: string, stat: FileStat): void {
  // Windows has other permissions, and Node makes up a mode.
  if (process.platform === "win32" || !stat.isDirectory()) return
  if ((stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0) throw othersMayWriteError(path, stat)
}

function othersMayWriteError(path: string, stat: FileStat): StorageError {
  const mode = (stat.mode & 0o777).toString(8).padStart(4, "0")
  const message = `Other users may write to the root ${path} (mode ${mode}), so they can replace or remove its sessions. Run chmod go-w on it, or pass \`allowSharedRoot: true\` if you trust them.`
  return new StorageError("misconfigured", message, { at: path })
}

/** This folder, or the first one above it that exists. */
function existingFrom(files: Files, path: string): string {
  if (!isReadable(path)) return path
  try {
    return files.lstat(path) !== undefined || dirname(path) === path ? path : existingFrom(files, dirname(path))
  } catch {
    // What cannot be looked at is not made either.
    return path
  }
}

function isReadable(path: string): boolean {
  return isPermitted({ name: "read", path })
}

/** Whether a folder cannot be synced because of a permission, or of the kind of its file system. */
function isRefusal(error: unknown): boolean {
  // A permission that Deno refuses has a name but no code.
  return REFUSALS.has(errnoOf(error) ?? (error instanceof Error ? error.name : ""))
}

const REFUSALS: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "EINVAL", "NotCapable"])
