/**
 * Removes the torn end that a crash in the middle of a write left, before the next append. Its bytes are kept in a `.torn` file.
 */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { APPEND, type Files, READ } from "../disk/files.ts"
import { below, FILE_MODE } from "../disk/layout.ts"
import { copySynced, readDerived, syncFolder } from "../disk/small-files.ts"
import { type LogView, lastPart } from "./view.ts"

const TORN = ".torn"

/**
 * A sentence for each whole record that was cut off: a crash seldom stops a write right before its last byte, but an editor removes the LF
 * of a line that was acknowledged.
 */
export function cutRecords(files: Files, folder: string): string[] {
  const names = files.readdir(folder).flatMap(({ name }) => (name.endsWith(TORN) ? [name] : []))
  return names.flatMap((name) => {
    const path = below(folder, name)
    if (!isRecord(readDerived(files, path))) return []
    return `A whole line that had lost its line feed was cut off the end of the log, and is in ${path}. Append its content again if it is missing, then remove that file.`
  })
}

function isRecord(bytes: Buffer | undefined): boolean {
  if (bytes?.at(-1) !== CLOSING_BRACE) return false
  try {
    return typeof JSON.parse(bytes.toString("utf8")) === "object"
  } catch {
    return false
  }
}

const CLOSING_BRACE = 0x7d

/** The bytes are on stable storage in the `.torn` file before they are cut. */
export async function cutTorn(files: Files, view: LogView): Promise<void> {
  if (view.torn === 0) return
  const part = lastPart(view)
  const path = below(view.folder, part.name)
  await keepAside(files, path, part.end.offset, view.torn)
  const fd = files.open(path, APPEND, FILE_MODE)
  try {
    files.truncate(fd, part.end.offset)
    await files.fdatasync(fd)
  } finally {
    files.close(fd)
  }
}

/** Copies the bytes from `offset` on to `<part>.<random>.torn`, durable when it resolves. */
export async function keepAside(files: Files, path: string, offset: number, length: number): Promise<void> {
  const fd = files.open(path, READ)
  try {
    const aside = `${path}.${randomUUID().slice(0, 8)}${TORN}`
    await copySynced(files, aside, fd, { start: offset, end: offset + length })
    await syncFolder(files, dirname(path))
  } finally {
    files.close(fd)
  }
}
