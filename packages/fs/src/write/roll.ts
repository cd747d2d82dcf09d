/** Going on in a new part. */
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
 * Ends the last part at its present size and begins an empty one. From here on whatever a writer without the lock still appends to
 * the old part is void. What listings go by is told of the new part before it is there. After a failure the new part may be there:
 * the old one must not be appended to before the log was looked at anew.
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

/** A number that no part has, since of two with one number only one counts; they need not ascend where somebody renamed them. */
function nextPart(log: OpenLog): PartName {
  const numbers = log.closed.map(({ name }) => parsePartName(name)?.number ?? 1)
  const part = toPartName(numbers.reduce((most, number) => Math.max(most, number), log.part.number) + 1, log.next)
  if (parsePartName(part.name) !== undefined) return part
  const message = `The log in ${log.folder} cannot go on after a part called ${log.part.name}: give its parts lower numbers.`
  throw new StorageError("corrupt", message, { at: pathOf(log) })
}
