/**
 * A log open for appending: the descriptor of the last part, and where it ends. Used under the lock only; everything here is
 * synchronous.
 */
import { join } from "node:path"
import { type Head, headAt, isSameLine, type Seq, StorageError } from "@sessions/core/storage"
import { type EncodedLines, indexBatch } from "../log/count.ts"
import { toStorageError } from "../disk/errors.ts"
import { APPEND, type Files } from "../disk/files.ts"
import { FILE_MODE, METADATA_FILE, type PartName } from "../disk/layout.ts"
import type { LineOffset } from "../log/sparse-index.ts"
import type { Metadata, StoredInfo } from "../log/metadata.ts"
import { countPart, lastLine } from "../log/parts.ts"
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

/**
 * Writes a batch with one call. What a short or failed write left is cut off before the error is thrown: `quota`, `unavailable`, or
 * `indeterminate` if cutting failed.
 */
export function writeBatch(files: Files, log: OpenLog, batch: EncodedLines): void {
  const { buffer, length, lines } = batch
  let written: number
  try {
    written = files.write(log.fd, buffer, 0, length)
  } catch (error) {
    cutBack(files, log, error)
    throw toStorageError(error, "append to the log", { at: pathOf(log) })
  }
  if (written !== length) {
    const message = `Only ${written} of ${length} bytes could be written to ${pathOf(log)}: the disk is full; make room.`
    cutBack(files, log, message)
    throw new StorageError("quota", message, { at: pathOf(log) })
  }
  indexBatch(log.offsets, log.size, log.next, batch)
  log.size += length
  log.next += lines.length
  log.last = lines.at(-1)
  // The path is built only if the clock was set back: building it takes a third of the time of the write.
  if (isBack(log.touchedAt)) keepTime(files, pathOf(log), log.touchedAt)
}

export function pathOf(log: OpenLog): string {
  return join(log.folder, log.part.name)
}

export function toHead(log: OpenLog): Head {
  return { next: log.next, log: log.log }
}

/** Returns the log if it has the expected head, else throws `conflict`. */
export function checkExpect(files: Files, log: OpenLog | undefined, expect: Head | 0, session: string): OpenLog {
  if (log === undefined) throw conflictError(session, "there is no such session", undefined)
  if (expect === 0) throw conflictError(session, "it exists already", pathOf(log))
  if (log.log !== expect.log) throw conflictError(session, "its log was deleted or replaced meanwhile", pathOf(log))
  if (log.next !== expect.next) {
    throw conflictError(
      session,
      `its next line is ${log.next}, not ${expect.next}: another writer was there`,
      pathOf(log),
    )
  }
  log.last ??= lastLine(files, log.folder, [...log.closed, { name: log.part.name, bytes: log.size }])
  if (!isSameLine(headAt(log.next, log.log, log.last), expect))
    throw conflictError(session, "it ends in another line, as after an older copy was put back", pathOf(log))
  return log
}

export function conflictError(session: string, why: string, at: string | undefined): StorageError {
  return new StorageError("conflict", `Nothing was appended to session ${session}: ${why}.`, {
    session,
    ...(at === undefined ? {} : { at }),
  })
}

/** Whether the clock is behind a time that the log already has. */
function isBack(before: number): boolean {
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

/** Encodes a batch. Small ones share one buffer, which is valid until the next batch is encoded. */
export function encodeBatch(lines: readonly string[]): EncodedLines {
  let units = lines.length
  for (const line of lines) units += line.length
  if (units * MAX_UTF8_BYTES > scratch.length) {
    const buffer = Buffer.from(`${lines.join("\n")}\n`, "utf8")
    return { lines, buffer, length: buffer.length }
  }
  let end = 0
  // Line by line, because a joined text would be copied twice.
  for (const line of lines) {
    end += scratch.write(line, end, "utf8")
    scratch[end++] = LF
  }
  return { lines, buffer: scratch, length: end }
}

/** Lines are appended only to an end that was confirmed by counting. */
function changedByHandError({ folder }: LogView, { name }: PartName): StorageError {
  const at = join(folder, METADATA_FILE)
  const message = `${at} says that ${name} ends elsewhere than its lines do: one of the two was changed by hand. Nothing was written; delete ${METADATA_FILE}, which is made anew, and open the storage again.`
  return new StorageError("corrupt", message, { at })
}

const LF = 10
/** Most bytes of one UTF-16 unit. */
const MAX_UTF8_BYTES = 3
/** Enough for the batches of an import and of many concurrent appends. The system gives no memory for pages that are never used. */
const scratch = Buffer.allocUnsafeSlow(4_194_304)

function cutBack(files: Files, log: OpenLog, cause: unknown): void {
  try {
    files.truncate(log.fd, log.size)
  } catch (error) {
    throw new StorageError(
      "indeterminate",
      `A write to ${pathOf(log)} failed, and what it left could not be cut off: read the log to see what of it is there.`,
      { at: pathOf(log), cause: new AggregateError([cause, error]) },
    )
  }
}
