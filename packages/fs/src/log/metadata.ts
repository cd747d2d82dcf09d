/**
 * `metadata.json`: what a listing shows of a session without opening its log. Derived, written behind, and never required. A row is
 * used only while the files of the log are those that it was written for ({@link Metadata.of}), `info` only if the identity is the
 * log's, and the end of an earlier part only if its file has the stored size.
 */
import type { Seq } from "@sessions/core/storage"
import type { FileStat, Files } from "../disk/files.ts"
import { below, IDENTITY_FILE, METADATA_FILE, parsePartName, toPartName } from "../disk/layout.ts"
import { readDerived, replaceFile } from "../disk/small-files.ts"
import { readIdentity } from "./identity.ts"
import { checksum } from "./sparse-index.ts"
import { isOldEnough, isSameFile } from "./stat-cache.ts"

export interface StoredInfo {
  readonly text: string
  readonly next: Seq
}

export interface Metadata {
  readonly log: string
  readonly next: Seq
  readonly bytes: number
  readonly parts: readonly { readonly name: string; readonly from: Seq; readonly bytes: number }[]
  /** 32 bits over the bytes before the end of the last part, as in the sparse index. */
  readonly check?: number
  readonly info?: StoredInfo
  /**
   * The files of the identity and of the last part, as {@link toFileTag} describes them. Missing if they were not certain, or in files of
   * version 0.1; a listing then reads the log.
   */
  readonly of?: readonly [identity: string, last: string]
  /**
   * 32 bits over the numbers above: with wrong ones, reads would fail or give other lines. Missing in files of version 0.1, whose numbers
   * are not used.
   */
  readonly sum?: number
}

/** Changes whenever a file is written to, replaced or put back: inode, times in milliseconds, and size. */
export function toFileTag({ ino, ctimeMs, mtimeMs, size }: FileStat): string {
  return `${ino} ${Math.floor(ctimeMs)} ${Math.floor(mtimeMs)} ${size}`
}

/** Undefined if there is none, or it has another format. `opened`: see {@link readDerived}. */
export function readMetadata(files: Files, folder: string, opened?: (file: FileStat) => void): Metadata | undefined {
  const bytes = readDerived(files, below(folder, METADATA_FILE), opened)
  if (bytes === undefined) return undefined
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Metadata
    return isMetadata(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The information stored for this log, if it belongs to lines that the log has. */
export function readInfo(files: Files, folder: string, log: string, next: Seq): StoredInfo | undefined {
  return infoIn(readMetadata(files, folder), log, next)
}

export function infoIn(metadata: Metadata | undefined, log: string, next: Seq): StoredInfo | undefined {
  const info = metadata?.log === log ? metadata.info : undefined
  return info !== undefined && info.next <= next ? info : undefined
}

/**
 * The file of the last part, if the files of the log are those that the metadata was written for and no part follows the last one. Otherwise
 * the metadata, or the log, was put back, copied while the log went on, or written late by a process that stood still. `identity` is
 * `log.id`.
 */
export function lastPartOf(
  files: Files,
  folder: string,
  { next, parts, of, sum }: Metadata,
  identity: FileStat | undefined,
): FileStat | undefined {
  const last = parts[parts.length - 1]
  if (last === undefined || of === undefined || sum === undefined || next === 0 || identity === undefined)
    return undefined
  if (toFileTag(identity) !== of[0]) return undefined
  const statOf = (name: string): FileStat | undefined => files.lstat(below(folder, name))
  const stat = statOf(last.name)
  if (stat === undefined || stat.size !== last.bytes || toFileTag(stat) !== of[1]) return undefined
  if (statOf(toPartName((parsePartName(last.name)?.number ?? 1) + 1, next).name) !== undefined) return undefined
  for (const part of parts) if (part !== last && statOf(part.name)?.size !== part.bytes) return undefined
  return stat
}

export interface MetadataCache {
  /** Reads the file again if it is another one than before, or was younger than a clock tick when it was read. */
  read(folder: string): Metadata | undefined
  /** The same of a folder that was read before. Any other is read as often as it is asked for: looking whether it has changed costs more. */
  readonly reread: (folder: string) => Metadata | undefined
}

interface Known {
  readonly file: FileStat
  readonly metadata: Metadata | undefined
}

export function createMetadataCache(files: Files): MetadataCache {
  const known = new Map<string, Known>()
  const read = (folder: string): Metadata | undefined => {
    const at = Date.now()
    const before = known.get(folder)
    const now = before && files.lstat(below(folder, METADATA_FILE))
    if (before !== undefined && now !== undefined && isSameFile(before.file, now)) return before.metadata
    known.delete(folder)
    let file: FileStat | undefined
    const metadata = readMetadata(files, folder, (opened) => {
      file = opened
    })
    if (file === undefined || !isOldEnough(file, at)) return metadata
    known.set(folder, { file, metadata })
    if (known.size > MOST) known.delete(known.keys().next().value ?? "")
    return metadata
  }
  return { read, reread: (folder) => (known.has(folder) ? read(folder) : readMetadata(files, folder)) }
}

/** `last` is the file of the last part as the caller knows it to be; without it, the row is not used by listings. */
export function writeMetadata(files: Files, folder: string, metadata: Metadata, last?: FileStat): void {
  const of = last === undefined ? undefined : tagsOf(files, folder, metadata.log, last)
  const row = { ...metadata, ...(of === undefined ? {} : { of }), sum: sumOf(metadata) }
  replaceFile(files, below(folder, METADATA_FILE), `${JSON.stringify(row)}\n`)
}

/** Undefined if the folder has another log by now, such as a copy that was put back. */
function tagsOf(files: Files, folder: string, log: string, last: FileStat): Metadata["of"] {
  const identity = files.lstat(below(folder, IDENTITY_FILE))
  const stored = readIdentity(files, folder)
  if (identity === undefined || stored?.stored !== true || stored.log !== log) return undefined
  return [toFileTag(identity), toFileTag(last)]
}

function isMetadata(value: Metadata | null): value is Metadata {
  return (
    typeof value?.log === "string" &&
    isCount(value.next) &&
    isCount(value.bytes) &&
    Array.isArray(value.parts) &&
    value.parts.length > 0 &&
    // Other names could lead out of the folder.
    value.parts.every(
      (part) => typeof part?.name === "string" && isCount(part.bytes) && parsePartName(part.name)?.from === part.from,
    ) &&
    (value.check === undefined || isCount(value.check)) &&
    (value.sum === undefined || value.sum === sumOf(value)) &&
    (value.of === undefined || (Array.isArray(value.of) && value.of.length === 2)) &&
    (value.info === undefined || (typeof value.info?.text === "string" && isCount(value.info.next)))
  )
}

function sumOf({ log, next, bytes, parts, check }: Metadata): number {
  const numbers = [log, next, bytes, parts.map((part) => [part.name, part.from, part.bytes]), check]
  return checksum(Buffer.from(JSON.stringify(numbers)))
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** Each takes one or two kilobytes. A page of a listing has 32 to some hundred rows. */
const MOST = 2_000
