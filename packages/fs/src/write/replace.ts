/** Replaces the whole log of a session and keeps its documents. */
import { join } from "node:path"
import {
  batchBytes,
  type CallOptions,
  type Chunk,
  checkSignal,
  type Head,
  isSameLine,
  StorageError,
} from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { isMissing } from "../disk/errors.ts"
import { CREATE } from "../disk/files.ts"
import { createLogIdentity, storeIdentity } from "../log/identity.ts"
import { DOCS_FOLDER, FILE_MODE, IDENTITY_FILE, type SessionPaths, toPartName } from "../disk/layout.ts"
import { withLock } from "../lock/with-lock.ts"
import { encodeBatch, writeBatch } from "./append.ts"
import { type OpenLog, toMetadata } from "./open-log.ts"
import { saveIndex } from "../log/sparse-index.ts"
import { writeMetadata } from "../log/metadata.ts"
import {
  checkInnerFolder,
  createFileSynced,
  ensureFolder,
  readWhole,
  removeQuietly,
  syncFile,
  syncFolder,
} from "../disk/small-files.ts"
import { swapIn } from "../disk/swap.ts"
import { toLeftoverName } from "../disk/trash.ts"
import { loadView, type LogView, markedHead } from "../log/view.ts"

/**
 * Call under the session's lock. The new log is complete, synced and counted before one rename puts it in place; a failure before
 * that leaves the old log unchanged.
 */
export async function replaceLog(
  deps: Deps,
  paths: SessionPaths,
  chunks: AsyncIterable<Chunk>,
  o: CallOptions & { readonly expect: Head; readonly checkHeld: () => void },
): Promise<Head> {
  const { files, layout, lockTimeout } = deps
  const { signal } = o
  const { updatedAt } = checkExpect(deps, paths.session, o.expect)
  const fresh = join(layout.fresh, toLeftoverName(paths.name))
  checkInnerFolder(files, layout.fresh)
  ensureFolder(files, fresh)
  try {
    const head = await build(deps, fresh, chunks, updatedAt)
    return await withLock(files, paths.docsLock, { timeout: lockTimeout, signal }, async (checkDocsHeld) => {
      await copyDocs(deps, paths.folder, fresh)
      await syncFolder(files, fresh)
      if (loadView(files, { ...paths, folder: fresh })?.next !== head.next) {
        throw new StorageError(
          "corrupt",
          `The new log of session ${paths.session} did not come back as it was written.`,
        )
      }
      checkSignal(signal)
      // Checked again right before the commit: a process that was stopped may have lost a lock, and others may have written since.
      const old = await swapIn(files, layout, paths, fresh, () => {
        o.checkHeld()
        checkDocsHeld()
        checkExpect(deps, paths.session, o.expect)
      })
      deps.notifier.emit(paths.session)
      await syncSwap(deps, paths)
      if (old !== undefined) await removeQuietly(files, old)
      return head
    })
  } finally {
    await removeQuietly(files, fresh)
  }
}

/** The new log is visible to everyone by now. If the disk may not keep it, the outcome is `indeterminate`, not a refusal. */
async function syncSwap({ root }: Deps, { session }: SessionPaths): Promise<void> {
  try {
    await root.sync()
  } catch (cause) {
    const message = `The log of session ${session} was replaced, but the disk could not be made to keep that: look at the system's log.`
    throw new StorageError("indeterminate", message, { session, cause })
  }
}

function checkExpect(deps: Deps, session: string, expect: Head): LogView {
  const view = deps.view(session)
  const isSame = view !== undefined && view.log === expect.log && view.next === expect.next
  if (isSame && isSameLine(markedHead(deps.files, view), expect)) return view
  throw new StorageError("conflict", `Session ${session} was not replaced: its log is not the one that was expected.`, {
    session,
  })
}

async function build(deps: Deps, fresh: string, chunks: AsyncIterable<Chunk>, updatedAt: number): Promise<Head> {
  const { files, maxPartBytes } = deps
  const identity = createLogIdentity()
  let log: OpenLog = {
    log: identity,
    folder: fresh,
    fd: files.open(join(fresh, toPartName(1, 0).name), CREATE, FILE_MODE),
    part: toPartName(1, 0),
    closed: [],
    offsets: [{ offset: 0, seq: 0 }],
    next: 0,
    last: undefined,
    size: 0,
    touchedAt: updatedAt,
  }
  try {
    for await (const chunk of chunks) {
      for (const lines of splitLines(chunk.lines, maxPartBytes)) {
        const batch = encodeBatch(lines)
        if (log.size > 0 && log.size + batch.length > maxPartBytes) log = await nextPart(deps, log)
        writeBatch(files, log, batch)
      }
    }
    await endPart(deps, log)
  } finally {
    files.close(log.fd)
  }
  storeIdentity(files, fresh, identity)
  await syncFile(files, join(fresh, IDENTITY_FILE))
  writeMetadata(files, fresh, toMetadata(log, undefined), files.lstat(join(fresh, log.part.name)))
  return { next: log.next, log: identity }
}

/** Splits a chunk that is larger than a part. */
function splitLines(lines: readonly string[], maxPartBytes: number): readonly (readonly string[])[] {
  if (batchBytes(lines) <= maxPartBytes) return [lines]
  const middle = lines.length >> 1
  return [...splitLines(lines.slice(0, middle), maxPartBytes), ...splitLines(lines.slice(middle), maxPartBytes)]
}

async function endPart(deps: Deps, log: OpenLog): Promise<void> {
  await deps.files.fsync(log.fd)
  saveIndex(deps.files, log.folder, log.part.name, log.fd, [...log.offsets, { offset: log.size, seq: log.next }])
}

async function nextPart(deps: Deps, log: OpenLog): Promise<OpenLog> {
  await endPart(deps, log)
  const part = toPartName(log.part.number + 1, log.next)
  const fd = deps.files.open(join(log.folder, part.name), CREATE, FILE_MODE)
  deps.files.close(log.fd)
  const closed = [...log.closed, { name: log.part.name, from: log.part.from, bytes: log.size }]
  return { ...log, fd, part, closed, offsets: [{ offset: 0, seq: log.next }], size: 0 }
}

async function copyDocs(deps: Deps, from: string, to: string): Promise<void> {
  const { files } = deps
  checkInnerFolder(files, join(from, DOCS_FOLDER))
  let entries: ReturnType<typeof files.readdir>
  try {
    entries = files.readdir(join(from, DOCS_FOLDER))
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  ensureFolder(files, join(to, DOCS_FOLDER))
  for (const entry of entries) {
    const bytes =
      entry.isFile() && !entry.name.startsWith(".") ? readWhole(files, join(from, DOCS_FOLDER, entry.name)) : undefined
    if (bytes !== undefined) await createFileSynced(files, join(to, DOCS_FOLDER, entry.name), bytes)
  }
  await syncFolder(files, join(to, DOCS_FOLDER))
}
