/** Removes leftovers of crashed processes from the folders for new and deleted files, and from those of sessions. */
import { randomUUID } from "node:crypto"
import { basename, join } from "node:path"
import type { Swept } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { errnoOf } from "../disk/errors.ts"
import { toSessionId } from "../disk/file-names.ts"
import type { Files } from "../disk/files.ts"
import { DOCS_FOLDER, docsLockOf, type Layout } from "../disk/layout.ts"
import { discard, isFolderOrNothing, isTemporary, removeQuietly } from "../disk/small-files.ts"
import { hasEndedInPlace, isOwnName, nameInTrash, removeFolder, toLeftoverName, trashed } from "../disk/trash.ts"
import { withLock } from "../lock/with-lock.ts"

/** Nothing takes this long to build or to remove, and clocks may be wrong by hours. */
const LEFT_MS = 24 * 60 * 60 * 1000

/**
 * Empties the trash, and removes new files older than a day, except logs of an interrupted swap: those are whole, and the session's next
 * writer completes them. Only what has a name that this package gives: others may use the folder. What cannot be read or removed is left for the next sweep.
 */
export async function sweepLeftovers(files: Files, layout: Layout): Promise<void> {
  try {
    await emptyTrash(files, layout, trashed(files, layout), 0)
  } catch {
    // The trash cannot be read.
  }
  for (const path of unfinished(files, layout)) await removeQuietly(files, path)
}

/** The same, with the temporary files of every session. Returns what was removed, or with `dryRun` would be. Throws if the trash cannot be read. */
export async function sweepStore({ files, layout, lockTimeout }: Deps, dryRun: boolean): Promise<Swept> {
  const trash = trashed(files, layout)
  const blobs = namesIn(files, layout.blobs).flatMap((name) => temporariesIn(files, join(layout.blobs, name)))
  const others = [...unfinished(files, layout), ...temporariesOfSessions(files, layout), ...blobs]
  const ended = sessionFolders(files, layout).filter((folder) => hasEndedInPlace(files, folder))
  const found = [...trash, ...others, ...ended]
  const bytes = found.reduce((sum, path) => sum + sizeOf(files, path), 0)
  if (dryRun) return { removed: found.length, bytes, left: 0 }
  let left = await emptyTrash(files, layout, trash, lockTimeout)
  for (const folder of ended) {
    const remove = async (): Promise<void> => {
      if (hasEndedInPlace(files, folder)) await removeFolder(files, folder)
    }
    await withLock(files, docsLockOf(layout, basename(folder)), { timeout: lockTimeout }, remove).catch(() => left++)
  }
  for (const path of others) {
    await removeQuietly(files, path)
    if (files.lstat(path) !== undefined) left++
  }
  return { removed: found.length - left, bytes, left }
}

/** Temporary files in a session's folder whose writer crashed. */
export function sweepTemporaries(files: Files, folder: string): void {
  for (const path of temporariesIn(files, folder)) discard(files, path)
}

/** Removes these paths of the trash, and returns how many are left for the next sweep. Waits for the locks up to `timeout` ms each. */
async function emptyTrash(files: Files, layout: Layout, paths: readonly string[], timeout: number): Promise<number> {
  let left = 0
  for (const path of paths) {
    const name = nameInTrash(path)
    let own = join(layout.trash, name === undefined ? randomUUID() : toLeftoverName(name))
    const take = async (): Promise<void> => {
      try {
        files.rename(path, own)
      } catch (error) {
        // A folder of an image layer cannot be renamed. Two processes may remove it at once.
        if (errnoOf(error) !== "EXDEV") throw error
        own = path
      }
    }
    try {
      // A replacement needs all of its old log until the disk keeps the new one, and has this lock until then.
      await (name === undefined ? take() : withLock(files, docsLockOf(layout, name), { timeout }, take))
    } catch {
      if (files.lstat(path) !== undefined) left++
      continue
    }
    await removeQuietly(files, own)
    if (files.lstat(own) !== undefined) left++
  }
  return left
}

/** Files and folders that were not put in their place for a day. */
function unfinished(files: Files, layout: Layout): string[] {
  return [layout.fresh, layout.docs].flatMap((folder) => {
    const wanted = namesIn(files, folder).filter(folder === layout.docs ? isTemporary : isOwnName)
    return wanted.map((name) => join(folder, name)).filter((path) => isOld(files, path))
  })
}

function temporariesOfSessions(files: Files, layout: Layout): string[] {
  return sessionFolders(files, layout).flatMap((folder) => {
    if (hasEndedInPlace(files, folder)) return []
    return [folder, join(folder, DOCS_FOLDER)].flatMap((path) => temporariesIn(files, path))
  })
}

function sessionFolders(files: Files, layout: Layout): string[] {
  // The root alone may be a link.
  const entries = files.lstat(layout.root) === undefined ? [] : files.readdir(layout.root)
  return entries.flatMap((entry) =>
    toSessionId(entry.name) === undefined || !entry.isDirectory() ? [] : [join(layout.root, entry.name)],
  )
}

function temporariesIn(files: Files, folder: string): string[] {
  const names = namesIn(files, folder).filter(isTemporary)
  return names.map((name) => join(folder, name)).filter((path) => isOld(files, path))
}

function isOld(files: Files, path: string): boolean {
  const age = Date.now() - (files.lstat(path)?.mtimeMs ?? Date.now())
  return age > LEFT_MS
}

/** Bytes of a file, or of the files in a folder and those below it. Links are not followed. */
function sizeOf(files: Files, path: string): number {
  const stat = files.lstat(path)
  if (stat?.isDirectory() !== true) return stat?.size ?? 0
  return namesIn(files, path).reduce((sum, name) => sum + sizeOf(files, join(path, name)), 0)
}

function namesIn(files: Files, folder: string): string[] {
  try {
    if (!isFolderOrNothing(files, folder)) return []
    return files.readdir(folder).map((entry) => entry.name)
  } catch {
    return []
  }
}
