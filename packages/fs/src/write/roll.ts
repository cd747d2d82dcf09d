/** Ends the last part of a log and begins a new one. */
import { join } from "node:path"
import { StorageError } from "@sessions/core/storage"
import { CREATE } from "../disk/files.ts"
import { FILE_MODE, parsePartName, type PartName, type SessionPaths, toPartName } from "../disk/layout.ts"
import { syncFolder } from "../disk/small-files.ts"
import type { Deps } from "../deps.ts"
import { saveIndex } from "../log/sparse-index.ts"
import { type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { keepTime, type OpenLog, pathOf, toMetadata } from "./open-log.ts"

/**
 * The last part ends at its present size: whatever a writer without the lock still appends to it is void. The metadata names the new
 * part before it exists, for listings. After a failure the new part may exist, so the log must be read again before the next append.
 */
export async function rollPart(
  deps: Deps,
  paths: SessionPaths,
  log: OpenLog,
  info: StoredInfo | undefined,
): Promise<OpenLog> {
  const { files } = deps
  const part = nextPart(log)
  const closed = [...log.closed, { name: log.part.name, from: log.part.from, bytes: log.size }]
  const next = { ...log, part, closed, offsets: [{ offset: 0, seq: log.next }], size: 0 }
  saveIndex(files, log.folder, log.part.name, log.fd, [...log.offsets, { offset: log.size, seq: log.next }])
  deps.recordParts(paths)
  writeMetadata(files, log.folder, toMetadata(next, info))
  const before = files.fstat(log.fd).mtimeMs
  const fd = files.open(join(log.folder, part.name), CREATE, FILE_MODE)
  try {
    keepTime(files, pathOf(next), before)
    if (deps.durability === "disk") await syncFolder(files, log.folder)
  } catch (error) {
    files.close(fd)
    throw error
  }
  files.close(log.fd)
  return { ...next, fd }
}

/**
 * One above all others, since of two parts with one number only one counts. Numbers need not ascend if files were renamed by hand.
 */
function nextPart(log: OpenLog): PartName {
  const numbers = log.closed.map(({ name }) => parsePartName(name)?.number ?? 1)
  const part = toPartName(numbers.reduce((most, number) => Math.max(most, number), log.part.number) + 1, log.next)
  if (parsePartName(part.name) !== undefined) return part
  const message = `The log in ${log.folder} cannot go on after a part called ${log.part.name}: give its parts lower numbers.`
  throw new StorageError("corrupt", message, { at: pathOf(log) })
}
