/**
 * A log open for appending: the descriptor of the last part, and where it ends. Used under the lock only; everything here is
 * synchronous.
 */
import { join } from "node:path"
import { type Head, type Seq, StorageError } from "@sessions/core/storage"
import { APPEND, type Files } from "../disk/files.ts"
import { FILE_MODE, METADATA_FILE, type PartName } from "../disk/layout.ts"
import type { LineOffset } from "../log/sparse-index.ts"
import type { Metadata, StoredInfo } from "../log/metadata.ts"
import { countPart } from "../log/parts.ts"
import { type LogView, lastPart } from "../log/view.ts"

export interface OpenLog {
  readonly log: string
  readonly folder: string
  readonly fd: number
  readonly part: PartName
  /** The parts before this one. */
  readonly closed: readonly { readonly name: string; readonly from: Seq; readonly bytes: number }[]
  /** Line offsets of the last part; grows with each batch. */
  readonly offsets: LineOffset[]
  next: Seq
  /** The last line; undefined until it is asked for it. */
  last: string | undefined
  /** Size of the last part's file. */
  size: number
  /** Its modification time at the last `fstat`. */
  touchedAt: number
}

/** Opens the last part of a log whose torn end has been cut off. */
export function openLog(files: Files, view: LogView): OpenLog {
  const { end } = lastPart(view)
  const part = countPart(files, view.folder, lastPart(view))
  if (part.end.seq !== end.seq || part.end.offset !== end.offset) throw changedByHandError(view, part)
  const fd = files.open(join(view.folder, part.name), APPEND, FILE_MODE)
  return {
    log: view.log,
    folder: view.folder,
    fd,
    part,
    closed: view.parts.slice(0, -1).map(({ name, from, end }) => ({ name, from, bytes: end.offset })),
    offsets: [...part.offsets],
    next: view.next,
    last: undefined,
    size: part.end.offset,
    touchedAt: view.stamp.mtimeMs,
  }
}

/** Whether the file still exists and ends at our last line. */
export function isCurrent(files: Files, log: OpenLog): boolean {
  const stat = files.fstat(log.fd)
  log.touchedAt = stat.mtimeMs
  return stat.size === log.size && stat.nlink > 0
}

/** Whether the open file is the one in the session's folder: it was neither moved nor replaced. */
export function isInPlace(files: Files, log: OpenLog): boolean {
  return files.lstat(pathOf(log))?.ino === files.fstat(log.fd).ino
}

/**
 * Whether a fresh view is of the open file and its end. A copy that was put back has the same identity and length, but readers would
 * not see what is written to the open file.
 */
export function isViewOf(files: Files, log: OpenLog, view: LogView): boolean {
  const { name, end } = lastPart(view)
  const isSameEnd = log.log === view.log && log.part.name === name && log.size === end.offset && view.torn === 0
  return isSameEnd && files.fstat(log.fd).ino === view.stamp.ino
}

export function pathOf(log: OpenLog): string {
  return join(log.folder, log.part.name)
}

export function toHead(log: OpenLog): Head {
  return { next: log.next, log: log.log }
}

/** Whether the clock is behind a time that the log already has. */
export function isBack(before: number): boolean {
  return Date.now() < Math.floor(before)
}

/**
 * Call after a write. While the clock is behind the log's time, the file keeps that time, so `updatedAt` never goes back. Half a
 * millisecond is added because the file system may round the time down.
 */
export function keepTime(files: Files, path: string, before: number): void {
  if (!isBack(before)) return
  try {
    files.utimes(path, Math.floor(before) + 0.5)
  } catch {
    // The lines are written; a wrong order in a listing does not make the append fail.
  }
}

/** `check` covers the bytes before the log's end; without it that end is counted again. */
export function toMetadata(log: OpenLog, info: StoredInfo | undefined, check?: number): Metadata {
  const parts = [...log.closed, { name: log.part.name, from: log.part.from, bytes: log.size }]
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  return {
    log: log.log,
    next: log.next,
    bytes,
    parts,
    ...(check === undefined ? {} : { check }),
    ...(info === undefined ? {} : { info }),
  }
}

/** Lines are appended only to an end that was confirmed by counting. */
function changedByHandError({ folder }: LogView, { name }: PartName): StorageError {
  const at = join(folder, METADATA_FILE)
  const message = `${at} says that ${name} ends elsewhere than its lines do: one of the two was changed by hand. Nothing was written; delete ${METADATA_FILE}, which is made anew, and open the storage again.`
  return new StorageError("corrupt", message, { at })
}
