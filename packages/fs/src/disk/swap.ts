/** Replacing a whole log in one step, and completing or undoing a replacement that a crash interrupted. */
import { join } from "node:path"
import { isMissing } from "./errors.ts"
import type { Files, FolderEntry } from "./files.ts"
import { DOCS_FOLDER, FIRST_PART, type Layout, type SessionPaths } from "./layout.ts"
import { checkInnerFolder, ensureFolder, removeQuietly, renameRetrying } from "./small-files.ts"
import { orUndo } from "./undo.ts"
import { moveToTrash } from "./trash.ts"

const SWAP = ".swap"

/**
 * Under the session's lock. A whole new log at `paths.swap` takes the place of the old one where that was already moved away (the
 * step that counts), else it is dropped: nobody was told that it was in place.
 */
export async function recoverSwap(files: Files, layout: Layout, paths: SessionPaths): Promise<void> {
  checkInnerFolder(files, layout.fresh)
  if (files.lstat(paths.swap)?.isDirectory() !== true) return
  checkInnerFolder(files, paths.folder)
  if (files.lstat(join(paths.folder, FIRST_PART)) !== undefined) {
    return removeQuietly(files, await moveToTrash(files, layout, paths.swap))
  }
  if (files.lstat(paths.folder) !== undefined) await moveDocs(files, layout, paths)
  await renameRetrying(files, paths.swap, paths.folder)
}

/**
 * Puts the finished folder in the place of the session's. `check` is called right before the old one goes. A failure leaves the old
 * one, or is `indeterminate`: whoever opens the session next completes or undoes it.
 */
export async function swapIn(
  files: Files,
  layout: Layout,
  paths: SessionPaths,
  fresh: string,
  check: () => void,
): Promise<void> {
  await renameRetrying(files, fresh, paths.swap)
  const undoSwap = (): void => files.rename(paths.swap, fresh)
  const old = await orUndo(() => moveToTrash(files, layout, paths.folder, check), undoSwap, unknown(paths))
  const undo = (): void => {
    files.rename(old, paths.folder)
    undoSwap()
  }
  await orUndo(() => renameRetrying(files, paths.swap, paths.folder), undo, unknown(paths))
  await removeQuietly(files, old)
}

/** Sessions whose log stands in no folder of its own, since a swap was interrupted; found in the entries of the folder for new ones. */
export function interruptedSwaps(entries: Iterable<string>): string[] {
  return [...entries].filter((name) => name.endsWith(SWAP)).map((name) => name.slice(0, -SWAP.length))
}

/** Documents that were put while the log stood aside belong to it; the folder they made gives way. */
async function moveDocs(files: Files, layout: Layout, paths: SessionPaths): Promise<void> {
  const [from, to] = [join(paths.folder, DOCS_FOLDER), join(paths.swap, DOCS_FOLDER)]
  for (const folder of [from, to]) checkInnerFolder(files, folder)
  ensureFolder(files, to)
  for (const entry of entriesOf(files, from)) await renameRetrying(files, join(from, entry.name), join(to, entry.name))
  await removeQuietly(files, await moveToTrash(files, layout, paths.folder))
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
