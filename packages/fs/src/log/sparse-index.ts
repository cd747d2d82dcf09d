/**
 * The sparse index of a part: where a line starts, about every 256 KB, so that any seq is found by reading at most that much.
 * Derived: stored in a file beside the part, written behind, and rebuilt by counting if it is missing or does not fit.
 */
import type { Seq } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { below, toIndexName } from "../disk/layout.ts"
import { readDerived, readFully, replaceFile } from "../disk/small-files.ts"

/** The line `seq` starts at byte `offset` of its part. */
export interface LineOffset {
  readonly offset: number
  readonly seq: Seq
}

/** With a checksum of the bytes before the line, which no longer fits if the file was changed by hand. */
export interface CheckedLineOffset extends LineOffset {
  readonly check: number
}

export const INDEX_INTERVAL_BYTES = 262_144

/** Bytes before a line that its checksum covers. */
export const CHECK_BYTES = 64

/** The last indexed line at or before a seq. The list is ascending and starts with the part's first line. */
export function offsetBefore(offsets: readonly LineOffset[], seq: Seq): LineOffset {
  let low = 0
  let high = offsets.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((offsets[middle]?.seq ?? 0) <= seq) low = middle
    else high = middle - 1
  }
  return offsets[low] ?? { offset: 0, seq }
}

/** 32 bits of FNV-1a over the {@link CHECK_BYTES} bytes before the offset. */
export function checkBefore(files: Files, fd: number, offset: number): number {
  const from = Math.max(0, offset - CHECK_BYTES)
  return checksum(readFully(files, fd, from, offset - from))
}

export function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  // Not with `of`: opening a session runs this before it is compiled, and the iterator doubles the time.
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash >>> 0
}

/**
 * The stored offsets of a part that fit its bytes, from the part's first line on. Only the last checksum is compared: a line added
 * or removed before it would have moved that offset.
 */
export function loadIndex(
  files: Files,
  folder: string,
  part: string,
  from: Seq,
  fd: number,
  size: number,
): LineOffset[] {
  const first: LineOffset = { offset: 0, seq: from }
  const stored = parseIndex(readDerived(files, below(folder, toIndexName(part)))?.toString("utf8"))
  const within = stored.filter((line) => line.offset <= size)
  const last = within.at(-1)
  if (last === undefined || !isAscending(first, within)) return [first]
  if (checkBefore(files, fd, last.offset) !== last.check) return [first]
  return [first, ...within.map(({ offset, seq }) => ({ offset, seq }))]
}

/**
 * Writes the line offsets of a part; of one that has ended, the last offset is its end. The checksums are those of the open file: the
 * one in the folder may be another log's by now.
 */
export function saveIndex(
  files: Files,
  folder: string,
  part: string,
  fd: number,
  offsets: readonly LineOffset[],
): void {
  const rows = offsets
    .filter((line, index) => line.offset > (offsets[index - 1]?.offset ?? 0))
    .map((line) => [line.offset, line.seq, checkBefore(files, fd, line.offset)])
  replaceFile(files, below(folder, toIndexName(part)), `${JSON.stringify({ marks: rows, check: checkRows(rows) })}\n`)
}

/** A damaged row would give other lines than those asked for. */
function checkRows(rows: unknown): number {
  return checksum(Buffer.from(JSON.stringify(rows)))
}

function parseIndex(text: string | undefined): CheckedLineOffset[] {
  if (text === undefined) return []
  try {
    const { marks, check } = JSON.parse(text) as { marks: unknown[]; check?: unknown }
    // Files of version 0.1 have no checksum.
    if (check !== undefined && check !== checkRows(marks)) return []
    return marks.map((row) => {
      const [offset, seq, check] = row as unknown[]
      if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(seq) || !Number.isSafeInteger(check)) throw new Error()
      return { offset: offset as number, seq: seq as number, check: check as number }
    })
  } catch {
    // Not in the format of this version: the part is counted.
    return []
  }
}

function isAscending(first: LineOffset, offsets: readonly LineOffset[]): boolean {
  let before = first
  for (const line of offsets) {
    if (line.offset <= before.offset || line.seq <= before.seq) return false
    before = line
  }
  return true
}
