/** Replaces a whole log by a rename, and completes or undoes a replacement that a crash interrupted. */
import { join } from "node:path"
import { isMissing } from "./errors.ts"
import type { Files, FolderEntry } from "./files.ts"
import { DOCS_FOLDER, FIRST_PART, type Layout, type SessionPaths } from "./layout.ts"
import { checkInnerFolder, ensureFolder, removeQuietly, renameRetrying, syncFolder } from "./small-files.ts"
import { orUndo } from "./undo.ts"
import { hasEndedInPlace, moveToTrash, removeFolder } from "./trash.ts"

const SWAP = ".swap"

/**
 * Call under the session's lock. If the old log was already moved away, which is the step that commits, the new log at `paths.swap`
 * takes its place. Otherwise it is dropped: its replacement was never acknowledged.
 */
export async function recoverSwap(files: Files, layout: Layout, paths: SessionPaths): Promise<void> {
  checkInnerFolder(files, layout.fresh)
  if (files.lstat(paths.swap)?.isDirectory() !== true) return
  checkInnerFolder(files, paths.folder)
  if (files.lstat(join(paths.folder, FIRST_PART)) !== undefined) {
    return removeQuietly(files, await moveToTrash(files, layout, paths.swap, paths.name))
  }
  if (files.lstat(paths.folder) !== undefined) {
    if (!hasEndedInPlace(files, paths.folder)) await moveDocs(files, paths)
    await removeEmptied(files, layout, paths)
  }
  await renameRetrying(files, paths.swap, paths.folder)
}

/**
 * Puts the finished folder in the place of the session's. `check` is called right before the old one is moved away. A failure leaves
 * the old log, or is `indeterminate`: the next writer completes or undoes it. Returns the path of the old folder, to be removed once
 * the root is synced; undefined if it had to be removed before, because it could not be moved.
 */
export async function swapIn(
  files: Files,
  layout: Layout,
  paths: SessionPaths,
  fresh: string,
  check: () => void,
): Promise<string | undefined> {
  await renameRetrying(files, fresh, paths.swap)
  const undoSwap = (): void => files.rename(paths.swap, fresh)
  const moveOld = async (): Promise<string> => {
    // After a crash the next writer must find the new log under this name.
    await syncFolder(files, layout.fresh)
    return moveToTrash(files, layout, paths.folder, paths.name, check)
  }
  const old = await orUndo(moveOld, undoSwap, unknown(paths))
  const isInPlace = old === paths.folder
  const undo = (): void => {
    files.rename(old, paths.folder)
    undoSwap()
  }
  const moveNew = async (): Promise<void> => {
    // From here on the new log is read where it is, and there is no way back.
    if (isInPlace) await removeEnded(files, paths.folder)
    await renameRetrying(files, paths.swap, paths.folder)
  }
  await orUndo(moveNew, isInPlace ? noWayBack : undo, unknown(paths))
  return isInPlace ? undefined : old
}

function noWayBack(): never {
  throw new Error("the old log could not be moved, and is removed")
}

/** The end of the old log must be durable before what it consists of is removed. */
async function removeEnded(files: Files, folder: string): Promise<void> {
  await syncFolder(files, folder)
  await removeFolder(files, folder)
}

/** Sessions whose new log still waits in the folder for new ones, because a swap was interrupted. */
export function interruptedSwaps(entries: Iterable<string>): string[] {
  return [...entries].filter((name) => name.endsWith(SWAP)).map((name) => name.slice(0, -SWAP.length))
}

/** Documents that were put while the log was in `.new` belong to it. */
async function moveDocs(files: Files, paths: SessionPaths): Promise<void> {
  const [from, to] = [join(paths.folder, DOCS_FOLDER), join(paths.swap, DOCS_FOLDER)]
  for (const folder of [from, to]) checkInnerFolder(files, folder)
  ensureFolder(files, to)
  for (const entry of entriesOf(files, from)) await renameRetrying(files, join(from, entry.name), join(to, entry.name))
  await syncFolder(files, to)
}

/** Takes a folder without a log out of the way of the new one. */
async function removeEmptied(files: Files, layout: Layout, paths: SessionPaths): Promise<void> {
  const old = await moveToTrash(files, layout, paths.folder, paths.name)
  if (old === paths.folder) await removeEnded(files, old)
  else await removeQuietly(files, old)
}

function unknown({ session }: SessionPaths): string {
  return `Whether the log of session ${session} was replaced will show when it is opened next: the folders could be moved neither on nor back.`
}

function entriesOf(files: Files, folder: string): readonly FolderEntry[] {
  try {
    return files.readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
