/**
 * Removes the torn end that a crash in the middle of a write left, before the next append. Its bytes are kept in a `.torn` file.
 */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { APPEND, type Files, READ } from "../disk/files.ts"
import { below, FILE_MODE } from "../disk/layout.ts"
import { copySynced, syncFolder } from "../disk/small-files.ts"
import { type LogView, lastPart } from "./view.ts"

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
    const aside = `${path}.${randomUUID().slice(0, 8)}.torn`
    await copySynced(files, aside, fd, { start: offset, end: offset + length })
    await syncFolder(files, dirname(path))
  } finally {
    files.close(fd)
  }
}
