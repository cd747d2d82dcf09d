/**
 * The view of a log: identity, parts, and end, as the files of a session are at one moment. Each call builds its own view; the
 * previous one of the same log only saves counting again.
 */
import { dirname } from "node:path"
import { type HeadInfo, type Seq, StorageError } from "@sessions/core/storage"
import { isMissing } from "../disk/errors.ts"
import type { Files } from "../disk/files.ts"
import { isFolderOrNothing } from "../disk/small-files.ts"
import { type Identity, readIdentity } from "./identity.ts"
import { type Metadata, readMetadata } from "./metadata.ts"
import { below, type PartName, type SessionPaths, toIndexName } from "../disk/layout.ts"
import { saveIndex } from "./sparse-index.ts"
import { closedParts, countPart, listParts, openPart, type Part, type Stamp, withFile } from "./parts.ts"
import { isUnchanged, statFolder, type FolderStat } from "./stat-cache.ts"

export interface LogView extends Identity {
  readonly folder: string
  /** In log order, at least one. */
  readonly parts: readonly Part[]
  readonly next: Seq
  /** Of all lines. */
  readonly bytes: number
  /** Bytes after the last whole line. */
  readonly torn: number
  readonly updatedAt: number
  /** Of the last part's file, to detect changes. */
  readonly stamp: Stamp
  /** The folder's times when the view was built. */
  readonly stat: FolderStat
  /** The metadata, if it was read while the view was built; it may be of another log. */
  readonly metadata: Metadata | undefined
}

/**
 * The log of a session, or undefined if there is none with a whole line. A swap is two renames, so a reader that comes between them
 * finds the new log in `.new`. Only then is it looked up there.
 */
export function loadView(files: Files, paths: SessionPaths, before?: LogView): LogView | undefined {
  return (
    loadFolder(files, paths.folder, before) ??
    (isFolderOrNothing(files, dirname(paths.swap)) ? loadFolder(files, paths.swap, before) : undefined) ??
    loadFolder(files, paths.folder, before)
  )
}

export function lastPart(view: LogView): Part {
  return view.parts[view.parts.length - 1] as Part
}

export function toHeadInfo(view: LogView): Omit<HeadInfo, "info"> {
  return {
    next: view.next,
    log: view.log,
    bytes: view.bytes,
    updatedAt: view.updatedAt,
    parts: view.parts.map((part) => ({ from: part.from, bytes: part.end.offset, at: below(view.folder, part.name) })),
    ...(view.torn > 0 ? { torn: view.torn } : {}),
  }
}

/** Writes the missing indexes of ended parts: of a log that was copied in, or whose writer crashed. */
export function saveMissingIndexes(files: Files, view: LogView): void {
  for (const part of view.parts.slice(0, -1)) {
    if (files.lstat(below(view.folder, toIndexName(part.name))) !== undefined) continue
    const { name, offsets, end } = countPart(files, view.folder, part)
    withFile(files, below(view.folder, name), (fd) => saveIndex(files, view.folder, name, fd, [...offsets, end]))
  }
}

/** Another process may roll, delete or replace the log while it is read, but not this often in a row. */
const ATTEMPTS = 20

function loadFolder(files: Files, folder: string, before: LogView | undefined): LogView | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stat = statFolder(files, folder)
    if (stat === undefined) return undefined
    try {
      const same = before?.folder === folder && isUnchanged(before.stat, stat) ? before : undefined
      const identity = same ?? readIdentity(files, folder)
      const names = same?.parts ?? listParts(files, folder)
      if (names.length === 0) return undefined
      checkFirstPart(folder, names[0] as PartName)
      // The first part was created after the identity was looked for.
      if (identity === undefined) continue
      const view = build(files, { folder, stat, names, identity }, before)
      if (view === same) return view
      const after = statFolder(files, folder)
      const still = after !== undefined && isUnchanged(stat, after)
      if (still || readIdentity(files, folder)?.log === identity.log) return view
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw new StorageError(
    "unavailable",
    `The files in ${folder} change faster than they can be looked at; repeat the call.`,
    {
      at: folder,
    },
  )
}

/** A log without `log.id` has its identity from the first part. Without both it is still a log: a new one must not take its place. */
function checkFirstPart(folder: string, first: PartName): void {
  if (first.number === 1) return
  throw new StorageError("corrupt", `The first part of the log in ${folder} is missing; ${first.name} is there.`, {
    at: folder,
  })
}

interface Found {
  readonly folder: string
  readonly stat: FolderStat
  /** In log order, at least one. */
  readonly names: readonly PartName[]
  readonly identity: Identity
}

/** Returns `before` itself if nothing changed. */
function build(files: Files, found: Found, before: LogView | undefined): LogView | undefined {
  const { folder, stat, names } = found
  const { log, stored } = found.identity
  const last = names.at(-1) as PartName
  const known = before?.log === log ? before : undefined
  let metadata: Metadata | undefined
  let isAsked = false
  const ofThisLog = (): Metadata | undefined => {
    if (!isAsked) metadata = readMetadata(files, folder)
    isAsked = true
    return metadata?.log === log ? metadata : undefined
  }
  const opened = known === undefined ? undefined : { part: lastPart(known), stamp: known.stamp }
  const tail = openPart(files, folder, last, opened?.part.name === last.name ? opened : undefined, ofThisLog)
  if (tail.stamp === known?.stamp && names === known?.parts) return known
  if (tail.part.end.seq === 0) return undefined
  const parts = [...closedParts(files, folder, names, known?.parts ?? [], ofThisLog), tail.part]
  return {
    log,
    stored,
    folder,
    stat,
    metadata,
    parts,
    next: tail.part.end.seq,
    bytes: parts.reduce((sum, part) => sum + part.end.offset, 0),
    torn: tail.stamp.size - tail.part.end.offset,
    updatedAt: Math.floor(tail.stamp.mtimeMs),
    stamp: tail.stamp,
  }
}
