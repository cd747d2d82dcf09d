/** The root folder: makes its content and its name durable. The root may be a symbolic link; below it no link is followed. */
import { dirname } from "node:path"
import { errnoOf } from "./errors.ts"
import { type Files, READ_LINKED } from "./files.ts"
import { isPermitted } from "./permission.ts"
import { syncOpened } from "./small-files.ts"

export interface Root {
  /** Call before each use: records which folders above the root are missing and will be made with it. */
  use(): void
  /**
   * Makes renames and new names in the root durable, and once also the root's own name and those of the folders that were made with it.
   *
   * A parent that this process may not open is skipped, except by a storage with `isStrict` whose root was missing before.
   */
  sync(): Promise<void>
}

export function createRoot(files: Files, path: string, isStrict: boolean): Root {
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
      isFound = files.lstat(path) !== undefined
      if (!isFound) base ??= existingFrom(files, parent)
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
