/**
 * `metadata.json`: what a listing shows of a session without opening its log. Derived and written behind: a row is taken from
 * it only where the size of the last part fits, `info` only where the identity does, and the end of a part that another one follows
 * only where its size is just that; nothing needs it.
 */
import type { Seq } from "@sessions/core/storage"
import type { FileStat, Files } from "../disk/files.ts"
import { below, METADATA_FILE, parsePartName } from "../disk/layout.ts"
import { readDerived, replaceFile } from "../disk/small-files.ts"
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
  /** 32 bits over what stands before the end of the last part, as in a line. */
  readonly check?: number
  readonly info?: StoredInfo
}

/** Undefined where there is none, or one that nobody of us wrote. */
export function readMetadata(files: Files, folder: string): Metadata | undefined {
  const bytes = readDerived(files, below(folder, METADATA_FILE))
  if (bytes === undefined) return undefined
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Metadata
    return isMetadata(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The information that was given with an append to this very log, if any is stored. */
export function readInfo(files: Files, folder: string, log: string, next: Seq): StoredInfo | undefined {
  return infoIn(readMetadata(files, folder), log, next)
}

export function infoIn(metadata: Metadata | undefined, log: string, next: Seq): StoredInfo | undefined {
  const info = metadata?.log === log ? metadata.info : undefined
  return info !== undefined && info.next <= next ? info : undefined
}

export interface MetadataCache {
  /** As the file is now: it is read again where it is another one, or was made moments before it was read. */
  read(folder: string): Metadata | undefined
}

interface Known {
  readonly file: FileStat
  readonly metadata: Metadata | undefined
}

export function createMetadataCache(files: Files): MetadataCache {
  const known = new Map<string, Known>()
  return {
    read(folder) {
      const at = Date.now()
      const file = files.lstat(below(folder, METADATA_FILE))
      const before = known.get(folder)
      if (before !== undefined && file !== undefined && isSameFile(before.file, file)) return before.metadata
      known.delete(folder)
      const metadata = readMetadata(files, folder)
      if (file === undefined || !isOldEnough(file, at)) return metadata
      known.set(folder, { file, metadata })
      if (known.size > MOST) known.delete(known.keys().next().value ?? "")
      return metadata
    },
  }
}

export function writeMetadata(files: Files, folder: string, metadata: Metadata): void {
  replaceFile(files, below(folder, METADATA_FILE), `${JSON.stringify(metadata)}\n`)
}

function isMetadata(value: Metadata | null): value is Metadata {
  return (
    typeof value?.log === "string" &&
    isCount(value.next) &&
    isCount(value.bytes) &&
    Array.isArray(value.parts) &&
    value.parts.length > 0 &&
    // A name that no part has may lead out of the folder.
    value.parts.every(
      (part) => typeof part?.name === "string" && isCount(part.bytes) && parsePartName(part.name)?.from === part.from,
    ) &&
    (value.check === undefined || isCount(value.check)) &&
    (value.info === undefined || (typeof value.info?.text === "string" && isCount(value.info.next)))
  )
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

/** Of a kilobyte or two, mostly. */
const MOST = 2_000
