/**
 * The view of a log: identity, parts, and end, as the files of a session are at one moment. Each call builds its own view; the
 * previous one of the same log only saves counting again.
 */
import { dirname } from "node:path"
import { type Head, type HeadInfo, lineMark, type Seq, StorageError } from "@sessions/core/storage"
import { isMissing } from "../disk/errors.ts"
import type { Files } from "../disk/files.ts"
import { isFolderOrNothing, readStart } from "../disk/small-files.ts"
import { hasEndedInPlace } from "../disk/trash.ts"
import type { DecodeLines } from "./decode.ts"
import { type Identity, readIdentity } from "./identity.ts"
import { lastPartOf, type Metadata, readMetadata } from "./metadata.ts"
import { below, FIRST_PART, parsePartName, type PartName, type SessionPaths, toIndexName } from "../disk/layout.ts"
import { saveIndex } from "./sparse-index.ts"
import {
  closedParts,
  countPart,
  isUnchangedPart,
  lastLine,
  listParts,
  type Opened,
  openPart,
  type Part,
  type Stamp,
  withFile,
} from "./parts.ts"
import { isSameFile, isUnchanged, statFolder, statIdentity, type FolderStat } from "./stat-cache.ts"

export interface LogView extends Identity {
  readonly folder: string
  /** In log order, at least one. */
  readonly parts: readonly Part[]
  readonly next: Seq
  /** Bytes of all lines. */
  readonly bytes: number
  /** Bytes after the last whole line. */
  readonly torn: number
  readonly updatedAt: number
  /** Stamp of the last part's file, to detect changes. */
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
export function loadView(
  files: Files,
  paths: SessionPaths,
  before?: LogView,
  read: ReadMetadata = (folder) => readMetadata(files, folder),
): LogView | undefined {
  return (
    loadFolder(files, paths.folder, before, read) ??
    (isFolderOrNothing(files, dirname(paths.swap)) ? loadFolder(files, paths.swap, before, read) : undefined) ??
    loadFolder(files, paths.folder, before, read)
  )
}

type ReadMetadata = (folder: string) => Metadata | undefined

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

const heads = new WeakMap<LogView, Head>()

/** The head with the mark of the last line, which is read once for a view. */
export function markedHead(files: Files, view: LogView): Head {
  let head = heads.get(view)
  if (head !== undefined) return head
  const { next, log, folder, parts } = view
  try {
    const line = lastLine(
      files,
      folder,
      parts.map(({ name, end }) => ({ name, bytes: end.offset })),
    )
    head = line === undefined ? { next, log } : { next, log, mark: lineMark(line) }
  } catch (error) {
    // The session was deleted since.
    if (!isMissing(error)) throw error
    head = { next, log }
  }
  heads.set(view, head)
  return head
}

/**
 * The first line of a log that was just looked at, for the caller who reads it next. Undefined if it is longer than 4 KB or not UTF-8, and if
 * the folder may have another log by now: then a read of the line reports what there is.
 */
export function firstLineOf(files: Files, decodeLines: DecodeLines, view: LogView): string | undefined {
  const bytes = readStart(files, below(view.folder, FIRST_PART), FIRST_BYTES)
  const end = bytes?.indexOf(LF) ?? -1
  const line = end < 0 ? undefined : decodeLines((bytes as Buffer).subarray(0, end))?.[0]
  const identity = statIdentity(files, view.folder)
  const isSame = identity !== undefined && view.stat.identity !== undefined && isSameFile(identity, view.stat.identity)
  return isSame ? line : undefined
}

const FIRST_BYTES = 4_096
const LF = 10

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

function loadFolder(
  files: Files,
  folder: string,
  before: LogView | undefined,
  read: ReadMetadata,
): LogView | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stat = statFolder(files, folder)
    if (stat === undefined) return undefined
    const same = before?.folder === folder && isUnchanged(before.stat, stat) ? before : undefined
    try {
      if (same !== undefined && isUnchangedPart(files, folder, toOpened(same))) return same
      const metadata = before === undefined ? read(folder) : undefined
      const stored = metadata === undefined ? undefined : storedView(files, folder, stat, metadata)
      if (stored !== undefined) return stored
      const found = readFolder(files, { folder, stat, metadata, same, before })
      if (found !== "changed") return found
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw new StorageError(
    "unavailable",
    `The files in ${folder} change faster than they can be looked at; repeat the call.`,
    { at: folder },
  )
}

/** The view as `metadata.json` has it, if that is of these files: then neither the folder nor a part need be read. */
function storedView(files: Files, folder: string, stat: FolderStat, metadata: Metadata): LogView | undefined {
  const { log, next, bytes, check } = metadata
  const last = lastPartOf(files, folder, metadata, stat.identity)
  if (last === undefined || check === undefined) return undefined
  const parts = metadata.parts.map((part, index): Part => {
    const { name, from, bytes } = part
    const number = parsePartName(name)?.number ?? 1
    const following = metadata.parts[index + 1]
    if (following === undefined) return { number, from, name, end: { offset: bytes, seq: next }, isEndCertain: true }
    return { number, from, name, end: { offset: bytes, seq: following.from }, isEndCertain: false, size: bytes }
  })
  const { size, mtimeMs, ino } = last
  const stamp = { at: stat.at, size, mtimeMs, ino, check }
  const updatedAt = Math.floor(mtimeMs)
  return { log, stored: true, folder, stat, metadata, parts, next, bytes, torn: 0, updatedAt, stamp }
}

/** No log, unless the metadata is that of lines which this very log had. */
function withoutParts(files: Files, { folder, metadata }: Found, identity: Identity | undefined): undefined {
  const had = metadata ?? readMetadata(files, folder)
  if (had === undefined || had.log !== identity?.log || had.next === 0) return undefined
  if (hasEndedInPlace(files, folder)) return undefined
  throw lostFileError(folder, below(folder, FIRST_PART), `is missing, and had ${had.next} lines`)
}

/** A creation in its place would be the end of what is still there. */
function lostFileError(folder: string, file: string, what: string): StorageError {
  const message = `${file} ${what}. Put the file back from a copy, or delete the session.`
  return new StorageError("corrupt", message, { at: folder })
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
  /** If it was read already. */
  readonly metadata: Metadata | undefined
  /** The view before, whatever log it is of. */
  readonly before: LogView | undefined
  /** The view before, if the folder still has the same parts. */
  readonly same: LogView | undefined
}

/** Finds the parts, the end of the last one and the sizes of the others. `"changed"`: another process was at work meanwhile. */
function readFolder(files: Files, found: Found): LogView | undefined | "changed" {
  const { folder, stat, same, before } = found
  const identity = same ?? readIdentity(files, folder)
  const names = same?.parts ?? listParts(files, folder)
  if (names.length === 0) return withoutParts(files, found, identity)
  if ((names[0] as PartName).number > 1 && hasEndedInPlace(files, folder)) return undefined
  checkFirstPart(folder, names[0] as PartName)
  // The first part was created after the identity was looked for.
  if (identity === undefined) return "changed"
  const { log, stored } = identity
  const known = before?.log === log ? before : undefined
  let { metadata } = found
  let isAsked = metadata !== undefined
  const ofThisLog = (): Metadata | undefined => {
    if (!isAsked) metadata = readMetadata(files, folder)
    isAsked = true
    return metadata?.log === log && metadata.sum !== undefined ? metadata : undefined
  }
  const last = names.at(-1) as PartName
  const opened = known !== undefined && lastPart(known).name === last.name ? toOpened(known) : undefined
  const { part, stamp } = openPart(files, folder, last, opened, ofThisLog)
  const isEmpty = part.end.seq === 0
  const parts = isEmpty ? [] : [...closedParts(files, folder, names, known?.parts ?? [], ofThisLog), part]
  const after = statFolder(files, folder)
  const still = after !== undefined && isUnchanged(stat, after)
  if (!still && readIdentity(files, folder)?.log !== log) return "changed"
  // A log appears with its first lines, by a rename: what is there now has lost them.
  if (isEmpty) throw lostFileError(folder, below(folder, last.name), "has no whole line")
  return {
    log,
    stored,
    folder,
    stat,
    metadata,
    parts,
    next: part.end.seq,
    bytes: parts.reduce((sum, { end }) => sum + end.offset, 0),
    torn: stamp.size - part.end.offset,
    updatedAt: Math.floor(stamp.mtimeMs),
    stamp,
  }
}

function toOpened(view: LogView): Opened {
  return { part: lastPart(view), stamp: view.stamp }
}
