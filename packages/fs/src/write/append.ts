/** An append becomes bytes: checks the expected head, encodes a batch and writes it. Used under the lock only; everything here is synchronous. */
import { type Head, headAt, isSameLine, StorageError } from "@sessions/core/storage"
import { toStorageError } from "../disk/errors.ts"
import type { Files } from "../disk/files.ts"
import { type EncodedLines, indexBatch } from "../log/count.ts"
import { lastLine } from "../log/parts.ts"
import { isBack, keepTime, type OpenLog, pathOf } from "./open-log.ts"

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

const LF = 10
/** Most bytes of one UTF-16 unit. */
const MAX_UTF8_BYTES = 3
/** Enough for the batches of an import and of many concurrent appends. The system gives no memory for pages that are never used. */
const scratch = Buffer.allocUnsafeSlow(4_194_304)
