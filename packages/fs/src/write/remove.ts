/** Deletes a session: one rename moves its folder, documents included, out of use, then its files are removed. */
import { checkExpect, type Deleted, type Head, StorageError } from "@sessions/core/storage"
import { join } from "node:path"
import type { Deps } from "../deps.ts"
import type { SessionPaths } from "../disk/layout.ts"
import { withLock } from "../lock/with-lock.ts"
import { discard, syncFolder } from "../disk/small-files.ts"
import { leftoversOf, moveToTrash, purge } from "../disk/trash.ts"
import { listParts } from "../log/parts.ts"
import { markedHead } from "../log/view.ts"

/** Whether there is anything to delete, so that deleting nothing creates no files. */
export function isAnythingLeft({ files, layout }: Deps, paths: SessionPaths): boolean {
  const isFolder = (path: string): boolean => files.lstat(path)?.isDirectory() === true
  return isFolder(paths.folder) || isFolder(paths.swap) || leftoversOf(files, layout, paths.name).length > 0
}

interface RemoveOptions {
  readonly signal: AbortSignal | undefined
  /** Throws `conflict` if the log does not end here. */
  readonly expect: Head | undefined
}

/** Call under the session's lock. Returns the size of the log, damaged or not. */
export function removeSession(deps: Deps, paths: SessionPaths, { signal, expect }: RemoveOptions): Promise<Deleted> {
  const { files, layout, lockTimeout } = deps
  return withLock(files, paths.docsLock, { timeout: lockTimeout, signal }, async () => {
    if (expect !== undefined) {
      const view = deps.view(paths.session)
      checkExpect(view && markedHead(files, view), expect)
    }
    let size = { bytes: 0, parts: 0 }
    if (files.lstat(paths.folder)?.isDirectory() === true) {
      size = measure(deps, paths)
      const old = await moveToTrash(files, layout, paths.folder, paths.name)
      discard(files, paths.rolled)
      deps.notifier.emit(paths.session)
      await syncRemoval(deps, paths, () => (old === paths.folder ? syncFolder(files, old) : deps.root.sync()))
    }
    const sync = (folder: string): Promise<void> =>
      syncRemoval(deps, paths, () => (folder === layout.root ? deps.root.sync() : syncFolder(files, folder)))
    return { ...size, purged: await purge(files, layout, paths.name, sync) }
  })
}

/** The session is gone for everyone by now. If the disk may bring it back, the outcome is `indeterminate`, not a refusal. */
async function syncRemoval(deps: Deps, { session }: SessionPaths, sync: () => Promise<void>): Promise<void> {
  if (deps.durability !== "disk") return
  try {
    await sync()
  } catch (cause) {
    const message = `Session ${session} was deleted, but the disk could not be made to keep that: look at the system's log.`
    throw new StorageError("indeterminate", message, { session, cause })
  }
}

function measure(deps: Deps, paths: SessionPaths): Omit<Deleted, "purged"> {
  try {
    const view = deps.view(paths.session)
    return view === undefined ? { bytes: 0, parts: 0 } : { bytes: view.bytes, parts: view.parts.length }
  } catch {
    // A damaged log is deleted like any other, and measured by its files.
    const parts = listParts(deps.files, paths.folder)
    const sizes = parts.map((part) => deps.files.lstat(join(paths.folder, part.name))?.size ?? 0)
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), parts: parts.length }
  }
}
