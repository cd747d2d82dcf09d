/** The head of a log that has no first part or cannot be opened. */
import type { HeadInfo } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { below, IDENTITY_FILE } from "../disk/layout.ts"
import { readStart } from "../disk/small-files.ts"
import { listParts } from "./parts.ts"

/**
 * Parts, sizes and times as the folder shows them, without counting lines: `next` is the first seq of the last part, which is in its
 * name. Undefined if there is no part, unless the folder cannot be read.
 */
export function damagedHead(files: Files, folder: string): Omit<HeadInfo, "info"> | undefined {
  const parts = orUndefined(() => listParts(files, folder)) ?? []
  const found = parts.map((part) => {
    const at = below(folder, part.name)
    const stat = orUndefined(() => files.lstat(at))
    return { from: part.from, bytes: stat?.size ?? 0, at, updatedAt: Math.floor(stat?.mtimeMs ?? 0) }
  })
  const last = found.at(-1)
  if (last === undefined) return hiddenHead(files, folder)
  const log = orUndefined(() => readStart(files, below(folder, IDENTITY_FILE), IDENTITY_BYTES)?.toString("utf8").trim())
  return {
    next: last.from,
    log: log ?? "",
    bytes: found.reduce((sum, part) => sum + part.bytes, 0),
    updatedAt: last.updatedAt,
    parts: found.map(({ from, bytes, at }) => ({ from, bytes, at })),
  }
}

const IDENTITY_BYTES = 4_096

/** A folder that cannot be read may hold a session, and the blobs it refers to must not be collected. */
function hiddenHead(files: Files, folder: string): Omit<HeadInfo, "info"> | undefined {
  if (orUndefined(() => files.readdir(folder)) !== undefined) return undefined
  const stat = orUndefined(() => files.lstat(folder))
  if (stat?.isDirectory() !== true) return undefined
  return { next: 0, log: "", bytes: 0, updatedAt: Math.floor(stat.mtimeMs), parts: [] }
}

/** Undefined if the system refuses. */
function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
