/**
 * The parts of a log: which there are, where they end, and where in them a line starts. Of the bytes of a part no more is looked at than
 * what somebody asks for needs.
 */
import type { Seq } from "@sessions/core/storage"
import { countLines } from "./count.ts"
import { type Files, READ } from "../disk/files.ts"
import { below, parsePartName, type PartName } from "../disk/layout.ts"
import { checkBefore, loadIndex, type LineOffset, INDEX_INTERVAL_BYTES } from "./sparse-index.ts"
import type { Metadata } from "./metadata.ts"

export interface Part extends PartName {
  /** WriteBehind its last line that counts. What stands after it is void, or the torn end of the log. */
  readonly end: LineOffset
  /** Whether what stands before `end` was looked at; else the size of the file speaks for it. */
  readonly isEndRead: boolean
  /** Of its file when the end was found; missing for the last part, which grows. */
  readonly size?: number
  /** Ascending, from the part's first line on; missing where its lines were not looked at yet: see {@link countPart}. */
  readonly offsets?: readonly LineOffset[]
}

export interface CountedPart extends Part {
  readonly offsets: readonly LineOffset[]
}

export interface Stamp {
  /** When it was looked at. */
  readonly at: number
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
  readonly check: number
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

/** The part with the offsets of its lines, and where exactly they end. Counted once. */
export function countPart(files: Files, folder: string, part: Part): CountedPart {
  if (part.offsets !== undefined) return part as CountedPart
  const known = counted.get(part)
  if (known !== undefined) return known
  const made = closedPart(files, folder, part, part.end.seq)
  const isAsSaid = made.end.seq === part.end.seq && made.end.offset === part.end.offset
  const whole = isAsSaid ? { ...made, end: part.end } : made
  counted.set(part, whole)
  return whole
}

/**
 * The same as far as a range of its lines needs it: the first ones are found from its start, the last ones from its end if that was
 * seen, and no offsets are loaded.
 */
export function partFor(files: Files, folder: string, part: Part, from: Seq, to: Seq): CountedPart {
  const isStart = to - part.from <= FIRST_LINES && to < part.end.seq
  const isEnd = part.isEndRead && to >= part.end.seq && to - from <= LAST_LINES
  if (part.offsets !== undefined || !(isStart || isEnd)) return countPart(files, folder, part)
  return { ...part, offsets: [{ offset: 0, seq: part.from }] }
}

const FIRST_LINES = 16
/** At most so many are counted over, from whichever side, and not many more than are read. */
const LAST_LINES = 1_024

const counted = new WeakMap<Part, CountedPart>()

/** Whether an open part is as long as when its end was found: else somebody changed it by hand, or a late writer added what is void. */
export function isAsLong(files: Files, fd: number, { size }: Part): boolean {
  return size === undefined || files.fstat(fd).size === size
}

/** All but the last one. Where `metadata.json` knows how long they are, their lines are counted when somebody needs them. */
export function closedParts(
  files: Files,
  folder: string,
  names: readonly PartName[],
  known: readonly Part[],
  metadata: () => Metadata | undefined,
): Part[] {
  return names.slice(0, -1).map((name, index): Part => {
    const until = (names[index + 1] as PartName).from
    const same = known.find((part) => part.name === name.name && part.end.seq === until)
    // It was the last one until now.
    if (same !== undefined) return same.size === undefined ? { ...same, size: same.end.offset } : same
    const bytes = closedSize(metadata(), name.name, until)
    const isWhole = bytes !== undefined && files.lstat(below(folder, name.name))?.size === bytes
    const { number, from } = name
    return isWhole
      ? { number, from, name: name.name, end: { offset: bytes, seq: until }, isEndRead: false, size: bytes }
      : closedPart(files, folder, name, until)
  })
}

/** Of a part that is said to end where the one after it begins. */
function closedSize(metadata: Metadata | undefined, name: string, until: Seq): number | undefined {
  return metadata?.parts.find((part, index, parts) => part.name === name && parts[index + 1]?.from === until)?.bytes
}

/** A part ends where the next one's first seq begins. One that holds fewer lines is taken as it is; reading past it is `corrupt`. */
function closedPart(files: Files, folder: string, { number, from, name }: PartName, until: Seq): CountedPart {
  return withFile(files, below(folder, name), (fd) => {
    const { size } = files.fstat(fd)
    const offsets = loadIndex(files, folder, name, from, fd, size).filter((line) => line.seq <= until)
    const end = countLines(files, fd, { start: offsets.at(-1) as LineOffset, end: size, until }, offsets)
    return { number, from, name, end, isEndRead: true, size, offsets }
  })
}

/** The last one, and how its file is. Before: the same part, as it was when it was looked at last. */
export function openPart(
  files: Files,
  folder: string,
  { number, from, name }: PartName,
  before: Opened | undefined,
  metadata: () => Metadata | undefined,
): Opened {
  const path = below(folder, name)
  const isWhole = before !== undefined && before.stamp.size === before.part.end.offset
  const stat = isWhole ? files.lstat(path) : undefined
  if (before !== undefined && stat !== undefined && isSame(before.stamp, stat)) return before
  return withFile(files, path, (fd) => {
    const at = Date.now()
    const { size, mtimeMs, ino } = files.fstat(fd)
    const place = { number, from, name }
    const seen = knownEnd(files, fd, size, before) ?? storedEnd(files, fd, size, place, metadata())
    const offsets = seen === undefined ? loadIndex(files, folder, name, from, fd, size) : seen.offsets
    const end = countLines(files, fd, { start: seen?.end ?? (offsets?.at(-1) as LineOffset), end: size }, offsets)
    const check = checkBefore(files, fd, end.offset)
    const part: Part = { ...place, end, isEndRead: true, ...(offsets === undefined ? {} : { offsets }) }
    return { part, stamp: { at, size, mtimeMs, ino, check } }
  })
}

export interface Opened {
  readonly part: Part
  readonly stamp: Stamp
}

interface KnownEnd {
  readonly end: LineOffset
  readonly offsets?: LineOffset[] | undefined
}

/** Where counting may go on: the end as it was seen, if what stands before it is still the same. A failed write may have been cut. */
function knownEnd(files: Files, fd: number, size: number, before: Opened | undefined): KnownEnd | undefined {
  if (before === undefined) return undefined
  const { part, stamp } = before
  if (size < part.end.offset || checkBefore(files, fd, part.end.offset) !== stamp.check) return undefined
  const offsets = part.offsets ?? counted.get(part)?.offsets
  return { end: part.end, offsets: offsets === undefined ? undefined : [...offsets] }
}

/** The same as `metadata.json` has it, where counting on from there is no longer than from a line. */
function storedEnd(
  files: Files,
  fd: number,
  size: number,
  { name, from }: PartName,
  metadata: Metadata | undefined,
): KnownEnd | undefined {
  const last = metadata?.parts.at(-1)
  if (metadata?.check === undefined || last?.name !== name || last.from !== from) return undefined
  const end = { offset: last.bytes, seq: metadata.next }
  const isNear = end.offset > 0 && end.seq > from && size >= end.offset && size - end.offset <= INDEX_INTERVAL_BYTES
  return isNear && checkBefore(files, fd, end.offset) === metadata.check ? { end } : undefined
}

/** Time stamps move in steps: a file that changed shortly before it was looked at may have changed again within the same one. */
const STAMP_STEP_MS = 100

function isSame(stamp: Stamp, stat: { size: number; mtimeMs: number; ino: number }): boolean {
  if (stamp.at - stamp.mtimeMs < STAMP_STEP_MS) return false
  return stamp.size === stat.size && stamp.mtimeMs === stat.mtimeMs && stamp.ino === stat.ino
}

export function withFile<T>(files: Files, path: string, use: (fd: number) => T): T {
  const fd = files.open(path, READ)
  try {
    return use(fd)
  } finally {
    files.close(fd)
  }
}
