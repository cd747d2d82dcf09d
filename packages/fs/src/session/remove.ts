/** Deleting a session: its folder, and all that goes with it, out of sight in one rename. */
import { type Deleted, StorageError } from "@sessions/core/storage"
import { join } from "node:path"
import type { Environment } from "../environment.ts"
import type { SessionPaths } from "../disk/layout.ts"
import { locked } from "../lock/locked.ts"
import { discard, removeQuietly, syncFolder } from "../disk/small-files.ts"
import { sweepLeftovers } from "./sweep.ts"
import { moveToTrash } from "../disk/trash.ts"
import { listParts } from "../log/parts.ts"

/** Whether there is anything to delete, so that deleting nothing makes no files. */
export function isThere(env: Environment, paths: SessionPaths): boolean {
  const isFolder = (path: string): boolean => env.files.lstat(path)?.isDirectory() === true
  return isFolder(paths.folder) || isFolder(paths.swap)
}

/** Under the session's lock. Says what the log had, damaged or not. */
export function removeSession(
  env: Environment,
  paths: SessionPaths,
  signal: AbortSignal | undefined,
): Promise<Deleted> {
  const { files, layout, lockTimeout } = env
  return locked(files, paths.docsLock, { timeout: lockTimeout, signal }, async () => {
    if (files.lstat(paths.folder)?.isDirectory() !== true) return { bytes: 0, parts: 0 }
    const deleted = measure(env, paths)
    const trashed = await moveToTrash(files, layout, paths.folder)
    discard(files, paths.rolled)
    env.bells.ring(paths.session)
    if (env.durability === "disk") await syncRemoval(env, paths)
    await removeQuietly(files, trashed)
    await sweepLeftovers(env)
    return deleted
  })
}

/** The session is gone for everyone by now; that the disk may bring it back is no reason to call that refused. */
async function syncRemoval({ files, layout }: Environment, { session }: SessionPaths): Promise<void> {
  try {
    await syncFolder(files, layout.root)
  } catch (cause) {
    const message = `Session ${session} was deleted, but the disk could not be made to keep that: look at the system's log.`
    throw new StorageError("indeterminate", message, { session, cause })
  }
}

function measure(env: Environment, paths: SessionPaths): Deleted {
  try {
    const view = env.view(paths.session)
    return view === undefined ? { bytes: 0, parts: 0 } : { bytes: view.bytes, parts: view.parts.length }
  } catch {
    // A damaged log can be deleted like any other; its files say how large it was.
    const parts = listParts(env.files, paths.folder)
    const sizes = parts.map((part) => env.files.lstat(join(paths.folder, part.name))?.size ?? 0)
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), parts: parts.length }
  }
}
