/**
 * What the files of a session say at one moment: identity, parts, where the last whole line ends. Made by looking, never trusted for
 * longer than the call it was made for; an earlier view of the same log saves counting again what has been counted.
 */
import { dirname, join } from "node:path"
import { type HeadInfo, type Seq, StorageError } from "@sessions/core/storage"
import { countLines } from "./count.ts"
import { isMissing } from "../errors.ts"
import { type Files, READ } from "../disk/files.ts"
import { isFolderOrNothing } from "../disk/small-files.ts"
import { type Identity, readIdentity } from "./identity.ts"
import { type Metadata, readMetadata } from "./metadata.ts"
import { type PartName, parsePartName, type SessionPaths, toMarksName } from "../disk/layout.ts"
import { checkBefore, loadMarks, type Mark, saveMarks } from "./marks.ts"
import { isUntouched, lookAt, type Place } from "./still.ts"

export interface Part extends PartName {
  /** Behind its last line that counts. What stands after it is void, or the torn end of the log. */
  readonly end: Mark
  /** Ascending, from the part's first line on; missing where its lines were not looked at yet: see {@link countPart}. */
  readonly marks?: readonly Mark[]
}

export interface CountedPart extends Part {
  readonly marks: readonly Mark[]
}

export interface LogView extends Identity {
  readonly folder: string
  /** In log order, at least one. */
  readonly parts: readonly Part[]
  readonly next: Seq
  /** Of all lines. */
  readonly bytes: number
  /** After the last whole line. */
  readonly torn: number
  readonly updatedAt: number
  /** Of the last part's file, to tell whether it changed since. */
  readonly stamp: Stamp
  /** The folder as it was found. */
  readonly place: Place
  /** What `metadata.json` said then, if that was asked: of any log. */
  readonly metadata: Metadata | undefined
}

interface Stamp {
  /** When it was looked at. */
  readonly at: number
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
  readonly check: number
}

/**
 * The log of a session, or undefined where there is none with at least one whole line. Looks at the log that is about to take the
 * place of another only while neither stands in the folder: a swap is two renames, and a reader may come between them.
 */
export function loadView(files: Files, paths: SessionPaths, before?: LogView): LogView | undefined {
  return (
    loadFolder(files, paths.folder, before) ??
    (isFolderOrNothing(files, dirname(paths.swap)) ? loadFolder(files, paths.swap, before) : undefined) ??
    loadFolder(files, paths.folder, before)
  )
}

export function lastPart(view: LogView): CountedPart {
  return view.parts[view.parts.length - 1] as CountedPart
}

/** The part with the marks of its lines, and where exactly they end. Counted once. */
export function countPart(files: Files, folder: string, part: Part): CountedPart {
  if (part.marks !== undefined) return part as CountedPart
  const made = counted.get(part) ?? closedPart(files, folder, part, part.end.seq)
  counted.set(part, made)
  return made
}

/** The same as far as lines before `to` need it: those that the part begins with are found from its start. */
export function partUpTo(files: Files, folder: string, part: Part, to: Seq): CountedPart {
  if (part.marks !== undefined || to - part.from > FIRST_LINES || to >= part.end.seq) {
    return countPart(files, folder, part)
  }
  return { ...part, marks: [{ offset: 0, seq: part.from }] }
}

const FIRST_LINES = 16

const counted = new WeakMap<Part, CountedPart>()

export function toHeadInfo(view: LogView): Omit<HeadInfo, "info"> {
  return {
    next: view.next,
    log: view.log,
    bytes: view.bytes,
    updatedAt: view.updatedAt,
    parts: view.parts.map((part) => ({ from: part.from, bytes: part.end.offset, at: join(view.folder, part.name) })),
    ...(view.torn > 0 ? { torn: view.torn } : {}),
  }
}

/**
 * The parts in a folder, in log order. Files of other names, and whatever is no regular file, are not looked at. Of two with one
 * number the later beginning counts: a writer that was stopped while it made the other had lost the lock by then.
 */
export function listParts(files: Files, folder: string): PartName[] {
  const byNumber = new Map<number, PartName>()
  for (const entry of files.readdir(folder)) {
    const part = entry.isFile() ? parsePartName(entry.name) : undefined
    if (part !== undefined && part.from >= (byNumber.get(part.number)?.from ?? 0)) byNumber.set(part.number, part)
  }
  return [...byNumber.values()].sort((a, b) => a.from - b.from || a.number - b.number)
}

/** Writes the marks of parts that have ended and have none: of a log that was copied in, or whose writer was stopped. */
export function saveMissingMarks(files: Files, view: LogView): void {
  for (const part of view.parts.slice(0, -1)) {
    if (files.lstat(join(view.folder, toMarksName(part.name))) !== undefined) continue
    const { name, marks, end } = countPart(files, view.folder, part)
    saveMarks(files, view.folder, name, [...marks, end])
  }
}

/** Another process may roll, delete or replace between two looks; so often in a row it does not. */
const ATTEMPTS = 20

function loadFolder(files: Files, folder: string, before: LogView | undefined): LogView | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const place = lookAt(files, folder)
    if (place === undefined) return undefined
    try {
      const same = before?.folder === folder && isUntouched(before.place, place) ? before : undefined
      const identity = same ?? readIdentity(files, folder)
      if (identity === undefined) return undefined
      const names = same?.parts ?? listParts(files, folder)
      const view = build(files, { folder, place, names, identity }, before)
      if (view === same) return view
      const after = lookAt(files, folder)
      const still = after !== undefined && isUntouched(place, after)
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

interface Found {
  readonly folder: string
  readonly place: Place
  /** In log order. */
  readonly names: readonly PartName[]
  readonly identity: Identity
}

/** The view from before where nothing changed since. */
function build(files: Files, found: Found, before: LogView | undefined): LogView | undefined {
  const { folder, place, names } = found
  const { log, stored } = found.identity
  const last = names.at(-1)
  if (last === undefined) return undefined
  const first = names[0] as PartName
  if (first.number !== 1) {
    throw new StorageError("corrupt", `The first part of the log in ${folder} is missing; ${first.name} is there.`, {
      at: folder,
    })
  }
  const known = before?.log === log ? before : undefined
  const tail = openPart(files, folder, last, known)
  if (tail.stamp === known?.stamp && names === known?.parts) return known
  if (tail.part.end.seq === 0) return undefined
  const { closed, metadata } = closedParts(files, found, known)
  const parts = [...closed, tail.part]
  return {
    log,
    stored,
    folder,
    place,
    metadata,
    parts,
    next: tail.part.end.seq,
    bytes: parts.reduce((sum, part) => sum + part.end.offset, 0),
    torn: tail.stamp.size - tail.part.end.offset,
    updatedAt: Math.floor(tail.stamp.mtimeMs),
    stamp: tail.stamp,
  }
}

/** All but the last one. Where `metadata.json` knows how long they are, their lines are counted when somebody needs them. */
function closedParts(
  files: Files,
  { folder, names, identity }: Found,
  known: LogView | undefined,
): { readonly closed: readonly Part[]; readonly metadata: Metadata | undefined } {
  let metadata: Metadata | undefined
  const closed = names.slice(0, -1).map((name, index): Part => {
    const until = (names[index + 1] as PartName).from
    const same = known?.parts.find((part) => part.name === name.name && part.end.seq === until)
    if (same !== undefined) return same
    metadata ??= readMetadata(files, folder)
    const bytes = metadata?.log === identity.log ? closedSize(metadata, name.name, until) : undefined
    const isWhole = bytes !== undefined && files.lstat(join(folder, name.name))?.size === bytes
    const { number, from } = name
    return isWhole
      ? { number, from, name: name.name, end: { offset: bytes, seq: until } }
      : closedPart(files, folder, name, until)
  })
  return { closed, metadata }
}

/** Of a part that is said to end where the one after it begins. */
function closedSize({ parts }: Metadata, name: string, until: Seq): number | undefined {
  return parts.find((part, index) => part.name === name && parts[index + 1]?.from === until)?.bytes
}

/** A part ends where the next one's first seq begins. One that holds fewer lines is taken as it is; reading past it is `corrupt`. */
function closedPart(files: Files, folder: string, { number, from, name }: PartName, until: Seq): CountedPart {
  return withFile(files, join(folder, name), (fd) => {
    const { size } = files.fstat(fd)
    const marks = loadMarks(files, folder, name, from, fd, size).filter((mark) => mark.seq <= until)
    const end = countLines(files, fd, { start: marks.at(-1) as Mark, end: size, until }, marks)
    return { number, from, name, end, marks }
  })
}

function openPart(
  files: Files,
  folder: string,
  { number, from, name }: PartName,
  known: LogView | undefined,
): { part: CountedPart; stamp: Stamp } {
  const path = join(folder, name)
  const before = known !== undefined && lastPart(known).name === name ? known : undefined
  const stat = before?.torn === 0 ? files.lstat(path) : undefined
  if (before !== undefined && stat !== undefined && isSame(before.stamp, stat)) {
    return { part: lastPart(before), stamp: before.stamp }
  }
  return withFile(files, path, (fd) => {
    const at = Date.now()
    const { size, mtimeMs, ino } = files.fstat(fd)
    const reused = before === undefined ? undefined : grownFrom(files, fd, size, before)
    const marks = reused?.marks ?? loadMarks(files, folder, name, from, fd, size)
    const end = countLines(files, fd, { start: reused?.start ?? (marks.at(-1) as Mark), end: size }, marks)
    const check = checkBefore(files, fd, end.offset)
    return { part: { number, from, name, end, marks }, stamp: { at, size, mtimeMs, ino, check } }
  })
}

/** Where counting may go on: the end as it was seen, if what stands before it is still the same. A failed write may have been cut. */
function grownFrom(
  files: Files,
  fd: number,
  size: number,
  before: LogView,
): { start: Mark; marks: Mark[] } | undefined {
  const { end, marks } = lastPart(before)
  if (size < end.offset || checkBefore(files, fd, end.offset) !== before.stamp.check) return undefined
  return { start: end, marks: [...marks] }
}

/** Time stamps move in steps: a file that changed shortly before it was looked at may have changed again within the same one. */
const STAMP_STEP_MS = 100

function isSame(stamp: Stamp, stat: { size: number; mtimeMs: number; ino: number }): boolean {
  if (stamp.at - stamp.mtimeMs < STAMP_STEP_MS) return false
  return stamp.size === stat.size && stamp.mtimeMs === stat.mtimeMs && stamp.ino === stat.ino
}

function withFile<T>(files: Files, path: string, use: (fd: number) => T): T {
  const fd = files.open(path, READ)
  try {
    return use(fd)
  } finally {
    files.close(fd)
  }
}
