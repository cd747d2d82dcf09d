/** Making what was written lasting, and what to do where that fails. */
import { dirname, join } from "node:path"
import { READ, REWRITE } from "../disk/files.ts"
import { readFully, syncFile, syncFolder, writeFully } from "../disk/small-files.ts"
import type { Deps } from "../deps.ts"
import type { Part } from "../log/parts.ts"
import { lastPart, type LogView } from "../log/view.ts"
import type { StoredInfo } from "../log/metadata.ts"
import { type OpenLog, pathOf } from "./open-log.ts"

/** The log as it was before a batch. */
export interface Before {
  readonly size: number
  readonly next: number
  readonly info: StoredInfo | undefined
}

/**
 * The parts, then the names that lead to them. Whoever wrote them: a sync is of the file, not of the descriptor. A part whose sync
 * fails goes to `deps.unsynced`; see {@link rewriteFailed}.
 */
export async function syncSession(deps: Deps, session: string): Promise<void> {
  const view = deps.view(session)
  if (view === undefined) return
  for (const part of view.parts) await syncPart(deps, join(view.folder, part.name))
  await syncFolder(deps.files, view.folder)
  await syncFolder(deps.files, dirname(view.folder))
}

/** What others wrote at the log's end and perhaps never synced, so that whatever is cut off later stands behind what is safe. */
export async function syncEnd(deps: Deps, view: LogView): Promise<void> {
  const part = lastPart(view)
  const path = join(view.folder, part.name)
  if (deps.unsynced.has(path)) rewritePart(deps, path, part)
  await syncPart(deps, path)
}

/**
 * After a failed sync the system takes the pages for clean, so that a second one says "done" and proves nothing. Lines that were
 * acknowledged cannot be cut off, so they are written once more, in place, which makes the pages dirty again. Under the lock.
 */
export function rewriteFailed(deps: Deps, session: string): void {
  const view = deps.view(session)
  for (const part of view?.parts ?? []) {
    const path = join(view?.folder ?? "", part.name)
    if (deps.unsynced.has(path)) rewritePart(deps, path, part)
  }
}

/**
 * After a failed sync nothing since the last good one counts: the system takes the pages for clean, so a later sync proves nothing.
 * So the batch is cut off again, and the cut synced, before this rejects; `corrupt` where that failed, too.
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
    while ((log.offsets.at(-1)?.offset ?? 0) > before.size) log.offsets.pop()
    throw deps.error(error, "sync the log", session, pathOf(log))
  }
}

const REWRITE_BYTES = 1_048_576

async function syncPart(deps: Deps, path: string): Promise<void> {
  try {
    await syncFile(deps.files, path)
  } catch (error) {
    deps.unsynced.add(path)
    throw error
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
