/** Makes written lines durable, and restores a safe state if a sync fails. */
import { dirname, join } from "node:path"
import { isMissing } from "../disk/errors.ts"
import { READ, REWRITE } from "../disk/files.ts"
import { readFully, syncFile, syncFolder, writeFully } from "../disk/small-files.ts"
import type { Deps } from "../deps.ts"
import { IDENTITY_FILE } from "../disk/layout.ts"
import type { Part } from "../log/parts.ts"
import type { LogView } from "../log/view.ts"
import { type OpenLog, pathOf } from "./open-log.ts"

/** The end of the log before a batch. */
export interface Before {
  readonly size: number
  readonly next: number
}

/**
 * Syncs all parts, then the folders that hold their names. Also covers writes of other processes, because a sync applies to the
 * file. Parts whose sync fails are added to `deps.unsynced`; see {@link rewriteFailed}.
 */
export async function syncSession(deps: Deps, session: string): Promise<void> {
  const view = deps.view(session)
  if (view === undefined) return
  try {
    for (const part of view.parts) await syncPart(deps, join(view.folder, part.name))
    await syncNames(deps, view)
  } catch (error) {
    // Nothing is left to sync if the log was deleted meanwhile, or replaced: a replacement is synced before it takes its place.
    if (!isMissing(error) || deps.reloadView(session)?.log === view.log) throw error
  }
}

/**
 * Syncs what other writers may not have synced: lines, so that cutting off a failed batch later removes no line of theirs, and names, so
 * that no append is acknowledged in a file that a power failure may remove. Call under the lock.
 */
export async function syncFound(deps: Deps, view: LogView): Promise<void> {
  rewriteParts(deps, view)
  for (const part of view.parts) await syncPart(deps, join(view.folder, part.name))
  await syncNames(deps, view)
}

/** Syncs the identity of a log and the folders that hold the names of its files. */
async function syncNames({ files, layout, root }: Deps, { folder, stored }: LogView): Promise<void> {
  if (stored) await syncFile(files, join(folder, IDENTITY_FILE))
  await syncFolder(files, folder)
  // A log whose replacement was interrupted is in `.new`.
  const above = dirname(folder)
  if (above !== layout.root) await syncFolder(files, above)
  await root.sync()
}

/**
 * Call under the lock. After a failed sync the system takes the pages for clean, so a second sync succeeds without proving anything.
 * Acknowledged lines cannot be cut off; they are written again in place, which makes the pages dirty.
 */
export function rewriteFailed(deps: Deps, session: string): void {
  const view = deps.view(session)
  if (view !== undefined) rewriteParts(deps, view)
}

/**
 * Syncs a batch. If that fails, the batch is cut off and the cut synced before this rejects, because a later sync of the same pages
 * would prove nothing. If cutting fails too, the error is `corrupt`.
 */
export async function syncBatch(deps: Deps, session: string, log: OpenLog, before: Before): Promise<void> {
  const { files } = deps
  try {
    await files.fdatasync(log.fd)
  } catch (error) {
    try {
      files.truncate(log.fd, before.size)
      await files.fdatasync(log.fd)
    } catch (second) {
      const what = "undo an append that could not be synced (open the storage anew to go on)"
      throw deps.error(new AggregateError([error, second]), what, session, pathOf(log), "corrupt")
    }
    log.size = before.size
    log.next = before.next
    log.last = undefined
    while ((log.offsets.at(-1)?.offset ?? 0) > before.size) log.offsets.pop()
    throw deps.error(error, "sync the log", session, pathOf(log))
  }
}

const REWRITE_BYTES = 1_048_576

async function syncPart(deps: Deps, path: string): Promise<void> {
  try {
    await syncFile(deps.files, path)
  } catch (error) {
    // Of a file that is gone there is nothing to write again.
    if (!isMissing(error)) deps.unsynced.add(path)
    throw error
  }
}

function rewriteParts(deps: Deps, view: LogView): void {
  for (const part of view.parts) {
    const path = join(view.folder, part.name)
    if (deps.unsynced.has(path)) rewritePart(deps, path, part)
  }
}

function rewritePart(deps: Deps, path: string, part: Part): void {
  const { files } = deps
  const from = files.open(path, READ)
  try {
    const to = files.open(path, REWRITE)
    try {
      for (let at = 0; at < part.end.offset; at += REWRITE_BYTES) {
        writeFully(files, to, readFully(files, from, at, Math.min(REWRITE_BYTES, part.end.offset - at)))
      }
    } finally {
      files.close(to)
    }
  } finally {
    files.close(from)
  }
  deps.unsynced.delete(path)
}
