/** Replacing a whole log in one step, and completing or undoing a replacement that a crash interrupted. */
import type { Files } from "./files.ts"
import type { Layout, SessionPaths } from "./layout.ts"
import { renamePatiently } from "./small-files.ts"
import { moveToTrash } from "./trash.ts"

/**
 * Under the lock. A whole new log at `paths.swap` takes the place of the old one where that was already moved away (the step
 * that counts), else it is dropped: nobody was told that it was in place.
 */
export async function recoverSwap(files: Files, layout: Layout, paths: SessionPaths): Promise<void> {
  if (files.lstat(paths.swap) === undefined) return
  if (files.lstat(paths.folder) === undefined) await renamePatiently(files, paths.swap, paths.folder)
  else await files.remove(await moveToTrash(files, layout, paths.swap))
}

/** Puts the finished folder in the place of the session's. */
export async function swapIn(files: Files, layout: Layout, paths: SessionPaths, fresh: string): Promise<void> {
  await renamePatiently(files, fresh, paths.swap)
  const old = await moveToTrash(files, layout, paths.folder)
  await renamePatiently(files, paths.swap, paths.folder)
  await files.remove(old)
}
