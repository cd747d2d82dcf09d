/** Rows become lines: cutting to a range, leaving out bytes at its beginning, and damage. Pure. */
import {
  type Chunk,
  fromUtf8,
  MAX_CHUNK_BYTES,
  type Seq,
  StorageError,
  utf8Length,
  type WindowStep,
} from "@sessions/core/storage"

const LF = 10

/** Consecutive lines, each with its LF. */
export interface Row {
  /** Seq of its first line. */
  readonly seq: Seq
  readonly lines: number
  /** Bytes of `body`. */
  readonly size: number
  /** A text is what its bytes mean as UTF-8. */
  readonly body: string | Uint8Array
}

/** A line that is not UTF-8. */
interface Damaged {
  readonly error: StorageError
  /** With its LF. */
  readonly bytes: number
}

type Line = string | Damaged

export interface Cut {
  readonly log: string
  readonly from: Seq
  readonly to: Seq
  /** Bytes to leave out at the beginning, in whole lines and never the last line. */
  readonly skip: number
}

export interface Step extends WindowStep {
  /** The lines before the first one that is not UTF-8; without damage, those of `chunk`. */
  readonly before: Chunk
}

/** The lines from `from` to `to`, in chunks. */
export async function* toSteps(
  pages: AsyncIterable<{ readonly rows: readonly Row[] }>,
  { log, from, to, skip }: Cut,
): AsyncGenerator<Step, void, undefined> {
  let expected: Seq | undefined
  for await (const { rows } of pages) {
    for (const group of groups(rows, log)) {
      const { seq } = group[0] as Row
      if (expected !== undefined && seq !== expected) throw missingLineError(expected, log)
      const lines = linesOf(group, log)
      expected = seq + lines.length
      let first = Math.max(0, from - seq)
      const last = Math.min(lines.length, to - seq)
      for (; skip > 0 && first < last && seq + first < to - 1; first++) skip -= sizeOf(lines[first] as Line)
      if (first < last) yield stepOf(lines.slice(first, last), seq + first)
    }
  }
}

/** The bytes of the lines before a seq. */
export function bytesBefore(rows: readonly Row[], to: Seq, log: string): number {
  let bytes = 0
  for (const row of rows) {
    if (row.seq + row.lines <= to) bytes += row.size
    else for (const line of linesOf([row], log).slice(0, Math.max(0, to - row.seq))) bytes += sizeOf(line)
  }
  return bytes
}

export function missingLineError(seq: Seq | undefined, log: string): StorageError {
  return corruptError(`${seq === undefined ? "The last line" : `Line ${seq}`} of log ${log} is missing`)
}

/**
 * Consecutive rows that have at most the bytes of a chunk together, or a single row: one that has more has a single line. Throws
 * `corrupt` for rows that overlap.
 */
function* groups(rows: readonly Row[], log: string): Generator<readonly Row[], void, undefined> {
  let group: Row[] = []
  let [next, bytes] = [0, 0]
  for (const row of rows) {
    // One of the two rows has a wrong seq, so the lines of the first one are not given either.
    if (row.seq < next) {
      group.pop()
      if (group.length > 0) yield group
      throw missingLineError(row.seq, log)
    }
    if (group.length > 0 && (row.seq !== next || bytes + row.size > MAX_CHUNK_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(row)
    next = row.seq + row.lines
    bytes += row.size
  }
  if (group.length > 0) yield group
}

/** The lines of consecutive rows. */
function linesOf(rows: readonly Row[], log: string): Line[] {
  const all: Line[] = []
  for (const row of rows) {
    const lines = typeof row.body === "string" ? split(row.body) : decode(row, log)
    if (lines?.length !== row.lines) throw corruptError(`The row of log ${log} from line ${row.seq} on has other lines`)
    for (const line of lines) all.push(line)
  }
  return all
}

/** Undefined if the last line has no LF. */
function split(text: string): string[] | undefined {
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : undefined
}

function decode({ seq, body }: Row, log: string): Line[] | undefined {
  const { buffer, byteOffset, length } = body as Uint8Array
  // A Buffer has an indexOf of its own, which is slow in Deno.
  const bytes = new Uint8Array(buffer, byteOffset, length)
  const whole = tryDecode(bytes, log)
  if (typeof whole === "string") return split(whole)
  if (bytes.at(-1) !== LF) return undefined
  const lines: Line[] = []
  for (let at = 0; at < length; ) {
    const end = bytes.indexOf(LF, at)
    const line = tryDecode(bytes.subarray(at, end), `line ${seq + lines.length} of log ${log}`)
    lines.push(typeof line === "string" ? line : { error: line, bytes: end + 1 - at })
    at = end + 1
  }
  return lines
}

function tryDecode(bytes: Uint8Array, at: string): string | StorageError {
  try {
    return fromUtf8(bytes, at)
  } catch (error) {
    return error as StorageError
  }
}

/** With its LF. */
function sizeOf(line: Line): number {
  return typeof line === "string" ? utf8Length(line) + 1 : line.bytes
}

/** If some lines are not UTF-8, `chunk` has those after the last such line, and `damage` is the error of the first. */
function stepOf(lines: Line[], from: Seq): Step {
  const first = lines.find((line) => typeof line !== "string")
  if (first === undefined) {
    const chunk = { from, lines: lines as string[] }
    return { chunk, before: chunk }
  }
  const after = 1 + lines.findLastIndex((line) => typeof line !== "string")
  return {
    chunk: { from: from + after, lines: lines.slice(after) as string[] },
    before: { from, lines: lines.slice(0, lines.indexOf(first)) as string[] },
    damage: first.error,
  }
}

function corruptError(what: string): StorageError {
  return new StorageError("corrupt", `${what}; restore the table from a backup.`)
}
