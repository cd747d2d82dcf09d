/**
 * The parts of a log: which there are, where each ends, and which line offsets of it are known. Reads no more of a part than a call
 * needs.
 */
import type { Seq } from "@sessions/core/storage"
import { countLines, findBack } from "./count.ts"
import { type Files, READ } from "../disk/files.ts"
import { below, parsePartName, type PartName } from "../disk/layout.ts"
import { readFully } from "../disk/small-files.ts"
import { checkBefore, loadIndex, type LineOffset, INDEX_INTERVAL_BYTES } from "./sparse-index.ts"
import type { Metadata } from "./metadata.ts"

export interface Part extends PartName {
  /** Behind the last line that counts. Bytes after it are void, or the torn end of the log. */
  readonly end: LineOffset
  /**
   * Whether the lines before `end` were counted, or `metadata.json` has their number and names this very file or a checksum of its bytes.
   * Otherwise `end` is taken from `metadata.json` because the file has the size stored there.
   */
  readonly isEndCertain: boolean
  /** Size of the file when the end was found; missing for the last part, which grows. */
  readonly size?: number
  /** Ascending from the part's first line; missing if its lines were not counted yet: see {@link countPart}. */
  readonly offsets?: readonly LineOffset[]
}

export interface CountedPart extends Part {
  readonly offsets: readonly LineOffset[]
}

export interface Stamp {
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
  readonly check: number
}

/**
 * The parts in a folder, in log order; other files are ignored. Of two parts with one number the one that begins later counts: the
 * writer of the other was stopped while it created it, and had lost the lock by then.
 */
export function listParts(files: Files, folder: string): PartName[] {
  const byNumber = new Map<number, PartName>()
  for (const entry of files.readdir(folder)) {
    const part = entry.isFile() ? parsePartName(entry.name) : undefined
    if (part !== undefined && part.from >= (byNumber.get(part.number)?.from ?? 0)) byNumber.set(part.number, part)
  }
  return [...byNumber.values()].sort((a, b) => a.from - b.from || a.number - b.number)
}

/** The part with its line offsets and exact end. Counted once. */
export function countPart(files: Files, folder: string, part: Part): CountedPart {
  if (part.offsets !== undefined) return part as CountedPart
  const known = counted.get(part)
  if (known !== undefined) return known
  const made = closedPart(files, folder, part, part.end.seq, part.end.offset)
  const isAsSaid = made.end.seq === part.end.seq && made.end.offset === part.end.offset
  const whole = isAsSaid ? { ...made, end: part.end } : made
  counted.set(part, whole)
  return whole
}

/**
 * The same as far as a range needs it, without loading the index: the first lines are found from the part's start, the last ones
 * from its end if that is certain.
 */
export function partFor(files: Files, folder: string, part: Part, from: Seq, to: Seq): CountedPart {
  const isStart = to - part.from <= FIRST_LINES && to < part.end.seq
  const isEnd = part.isEndCertain && to >= part.end.seq && to - from <= LAST_LINES
  if (part.offsets !== undefined || !(isStart || isEnd)) return countPart(files, folder, part)
  return { ...part, offsets: [{ offset: 0, seq: part.from }] }
}

/**
 * The same for a window, the lines before `to` that come to `maxBytes`, of the part that is open as `fd`. A small window at a certain
 * end needs no offsets. Others use the stored ones, also if those do not reach the end: only a part whose end is not certain is counted.
 */
export function partForWindow(
  files: Files,
  folder: string,
  part: Part,
  fd: number,
  to: Seq,
  maxBytes: number,
): CountedPart {
  if (part.offsets !== undefined || !part.isEndCertain || counted.has(part)) return countPart(files, folder, part)
  const { name, from, end } = part
  const isSmall = to >= end.seq && maxBytes <= SMALL_WINDOW_BYTES
  const offsets = isSmall ? [{ offset: 0, seq: from }] : loadIndex(files, folder, name, from, fd, end.offset)
  return { ...part, offsets }
}

const FIRST_LINES = 16
/** Counting the lines of so many bytes takes no longer than loading the index. */
const SMALL_WINDOW_BYTES = 1_048_576
/** Beyond this, counting to a line takes longer than loading the index. */
const LAST_LINES = 1_024

const counted = new WeakMap<Part, CountedPart>()

/**
 * Whether an open part has the size it had when its end was found. Otherwise it was changed by hand, or a late writer added lines
 * that are void.
 */
export function isAsLong(files: Files, fd: number, { size }: Part): boolean {
  return size === undefined || files.fstat(fd).size === size
}

/** All parts but the last. If `metadata.json` has their sizes, their lines are counted when they are read. */
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
    // The last part until now.
    if (same !== undefined) return same.size === undefined ? { ...same, size: same.end.offset } : same
    const bytes = closedSize(metadata(), name.name, until)
    const isWhole = bytes !== undefined && files.lstat(below(folder, name.name))?.size === bytes
    const { number, from } = name
    return isWhole
      ? { number, from, name: name.name, end: { offset: bytes, seq: until }, isEndCertain: false, size: bytes }
      : closedPart(files, folder, name, until, bytes)
  })
}

/** The end of a part that ends where the next one begins, according to the metadata. */
function closedSize(metadata: Metadata | undefined, name: string, until: Seq): number | undefined {
  return metadata?.parts.find((part, index, parts) => part.name === name && parts[index + 1]?.from === until)?.bytes
}

/**
 * A part ends at the first seq of the next one. One with fewer lines is accepted; reading the missing ones is `corrupt`. Lines after the
 * end are void if it is at the byte that is `stated`, or none is. If it is elsewhere, the part has a line more than it should have: then
 * it ends where the file does, and reading it is `corrupt`.
 */
function closedPart(
  files: Files,
  folder: string,
  { number, from, name }: PartName,
  until: Seq,
  stated: number | undefined,
): CountedPart {
  return withFile(files, below(folder, name), (fd) => {
    const { size } = files.fstat(fd)
    const offsets = loadIndex(files, folder, name, from, fd, size).filter((line) => line.seq <= until)
    const counted = countLines(files, fd, { start: offsets.at(-1) as LineOffset, end: size, until }, offsets)
    const isVoid = counted.seq < until || stated === undefined || stated === counted.offset
    const end = isVoid ? counted : { offset: size, seq: until }
    return { number, from, name, end, isEndCertain: true, size, offsets }
  })
}

/** The last part with its end and the stamp of its file. `before`: the same part as it was found last. */
export function openPart(
  files: Files,
  folder: string,
  { number, from, name }: PartName,
  before: Opened | undefined,
  metadata: () => Metadata | undefined,
): Opened {
  if (before !== undefined && isUnchangedPart(files, folder, before)) return before
  return withFile(files, below(folder, name), (fd) => {
    const at = Date.now()
    const { size, mtimeMs, ino } = files.fstat(fd)
    const place = { number, from, name }
    const seen = knownEnd(files, fd, size, before) ?? storedEnd(files, fd, size, place, metadata())
    const offsets = seen === undefined ? loadIndex(files, folder, name, from, fd, size) : seen.offsets
    const end = countLines(files, fd, { start: seen?.end ?? (offsets?.at(-1) as LineOffset), end: size }, offsets)
    const check = seen?.end.offset === end.offset ? seen.check : checkBefore(files, fd, end.offset)
    const part: Part = { ...place, end, isEndCertain: true, ...(offsets === undefined ? {} : { offsets }) }
    return { part, stamp: { at, size, mtimeMs, ino, check } }
  })
}

export interface Opened {
  readonly part: Part
  readonly stamp: Stamp
}

interface KnownEnd {
  readonly end: LineOffset
  /** The checksum of the bytes before it. */
  readonly check: number
  readonly offsets?: LineOffset[] | undefined
}

/** The end that was found before, if the bytes before it are the same. A failed write may have been cut off since. */
function knownEnd(files: Files, fd: number, size: number, before: Opened | undefined): KnownEnd | undefined {
  if (before === undefined) return undefined
  const { part, stamp } = before
  if (size < part.end.offset || checkBefore(files, fd, part.end.offset) !== stamp.check) return undefined
  const offsets = part.offsets ?? counted.get(part)?.offsets
  return { end: part.end, check: stamp.check, offsets: offsets === undefined ? undefined : [...offsets] }
}

/** The end stored in `metadata.json`, if counting on from there takes no longer than from an indexed line. */
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
  const { check } = metadata
  return isNear && checkBefore(files, fd, end.offset) === check ? { end, check } : undefined
}

/** File times advance in ticks: a file that changed shortly before it was read may have changed again within the same tick. */
const STAMP_STEP_MS = 100

/** Whether the file of a last part is as it was when its end was found. */
export function isUnchangedPart(files: Files, folder: string, { part, stamp }: Opened): boolean {
  if (stamp.size !== part.end.offset || stamp.at - stamp.mtimeMs < STAMP_STEP_MS) return false
  const stat = files.lstat(below(folder, part.name))
  return stat?.size === stamp.size && stat.mtimeMs === stamp.mtimeMs && stat.ino === stamp.ino
}

/** The last line of the parts, which are in log order. Undefined if there is none. */
export function lastLine(
  files: Files,
  folder: string,
  parts: readonly { readonly name: string; readonly bytes: number }[],
): string | undefined {
  const part = parts.findLast(({ bytes }) => bytes > 0)
  if (part === undefined) return undefined
  return withFile(files, below(folder, part.name), (fd) => {
    const start = findBack(files, fd, 0, part.bytes, 1) ?? 0
    // A line that is not UTF-8 is no line that a writer has seen.
    return readFully(files, fd, start, part.bytes - 1 - start).toString("utf8")
  })
}

export function withFile<T>(files: Files, path: string, use: (fd: number) => T): T {
  const fd = files.open(path, READ)
  try {
    return use(fd)
  } finally {
    files.close(fd)
  }
}
