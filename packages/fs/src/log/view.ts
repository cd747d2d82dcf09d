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
import { type PartName, parsePartName, type SessionPaths, toMarksName } from "../disk/layout.ts"
import { checkBefore, loadMarks, type Mark, saveMarks } from "./marks.ts"

export interface Part extends PartName {
  /** Behind its last line that counts. What stands after it is void, or the torn end of the log. */
  readonly end: Mark
  /** Ascending, from the part's first line on. */
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

export function lastPart(view: LogView): Part {
  return view.parts[view.parts.length - 1] as Part
}

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
  for (const { name, marks, end } of view.parts.slice(0, -1)) {
    if (files.lstat(join(view.folder, toMarksName(name))) === undefined)
      saveMarks(files, view.folder, name, [...marks, end])
  }
}

/** Another process may roll, delete or replace between two looks; so often in a row it does not. */
const ATTEMPTS = 20

function loadFolder(files: Files, folder: string, before: LogView | undefined): LogView | undefined {
  if (files.lstat(folder)?.isDirectory() !== true) return undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const identity = readIdentity(files, folder)
      if (identity === undefined) return undefined
      const view = build(files, folder, identity, before)
      if (readIdentity(files, folder)?.log === identity.log) return view
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

function build(files: Files, folder: string, identity: Identity, before: LogView | undefined): LogView | undefined {
  const names = listParts(files, folder)
  const last = names.pop()
  if (last === undefined) return undefined
  const first = names[0] ?? last
  if (first.number !== 1) {
    throw new StorageError("corrupt", `The first part of the log in ${folder} is missing; ${first.name} is there.`, {
      at: folder,
    })
  }
  const known = before?.log === identity.log ? before : undefined
  const parts: Part[] = names.map((name, index) => {
    const until = (names[index + 1] ?? last).from
    const same = known?.parts.find((part) => part.name === name.name && part.end.seq === until)
    return same ?? closedPart(files, folder, name, until)
  })
  const tail = openPart(files, folder, last, known)
  parts.push(tail.part)
  if (tail.part.end.seq === 0) return undefined
  return {
    ...identity,
    folder,
    parts,
    next: tail.part.end.seq,
    bytes: parts.reduce((sum, part) => sum + part.end.offset, 0),
    torn: tail.stamp.size - tail.part.end.offset,
    updatedAt: Math.floor(tail.stamp.mtimeMs),
    stamp: tail.stamp,
  }
}

/** A part ends where the next one's first seq begins. One that holds fewer lines is taken as it is; reading past it is `corrupt`. */
function closedPart(files: Files, folder: string, name: PartName, until: Seq): Part {
  return withFile(files, join(folder, name.name), (fd) => {
    const { size } = files.fstat(fd)
    const marks = loadMarks(files, folder, name.name, name.from, fd, size).filter((mark) => mark.seq <= until)
    const end = countLines(files, fd, { start: marks.at(-1) as Mark, end: size, until }, marks)
    return { ...name, end, marks }
  })
}

function openPart(
  files: Files,
  folder: string,
  name: PartName,
  known: LogView | undefined,
): { part: Part; stamp: Stamp } {
  const path = join(folder, name.name)
  const before = known !== undefined && lastPart(known).name === name.name ? known : undefined
  const stat = files.lstat(path)
  if (before !== undefined && before.torn === 0 && stat !== undefined && isSame(before.stamp, stat)) {
    return { part: lastPart(before), stamp: before.stamp }
  }
  return withFile(files, path, (fd) => {
    const at = Date.now()
    const { size, mtimeMs, ino } = files.fstat(fd)
    const reused = before === undefined ? undefined : grownFrom(files, fd, size, before)
    const marks = reused?.marks ?? loadMarks(files, folder, name.name, name.from, fd, size)
    const end = countLines(files, fd, { start: reused?.start ?? (marks.at(-1) as Mark), end: size }, marks)
    const check = checkBefore(files, fd, end.offset)
    return { part: { ...name, end, marks }, stamp: { at, size, mtimeMs, ino, check } }
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
