/** Conversion between the lines of a log and the rows that store them. Pure. */
import { type Chunk, MAX_CHUNK_BYTES, type Seq, utf8Length } from "@sessions/core/storage"
import type { LogRow, RowKey } from "../schema.ts"
import { corruptError } from "../database/errors.ts"

/**
 * The maximum size of a row with several lines. Chromium stores a value of 64 KB or more in a separate file: a batch of 200 KB took
 * twice as long in one row as in four.
 */
export const ROW_BYTES = 60_000

export interface NewRow {
  readonly key: RowKey
  readonly row: LogRow
}

/** The end of a log: the seq and the byte offset of the next line. */
export interface LogEnd {
  readonly next: Seq
  readonly bytes: number
}

/**
 * Splits a batch into rows of at most `maxLength` UTF-16 units each; a longer line gets a row of its own. In UTF-8 a row may be three
 * times as long, which still fits a chunk.
 */
export function toRows(log: string, start: LogEnd, lines: readonly string[], maxLength: number = ROW_BYTES): NewRow[] {
  const rows: NewRow[] = []
  let { next, bytes: offset } = start
  let pending: string[] = []
  let length = 0
  const flush = (): void => {
    if (pending.length === 0) return
    const text = pending.join("\n")
    const bytes = utf8Length(text) + 1
    rows.push({ key: [log, next, offset], row: { from: next, bytes, text } })
    next += pending.length
    offset += bytes
    pending = []
    length = 0
  }
  for (const line of lines) {
    // In UTF-16 units, not bytes: measuring each line in UTF-8 took a tenth of the time of an append.
    if (length + line.length + 1 > maxLength) flush()
    pending.push(line)
    length += line.length + 1
  }
  flush()
  return rows
}

/** The end of the log after these rows, which hold `lineCount` lines, were added at `start`. */
export function endAfter(rows: readonly NewRow[], lineCount: number, start: LogEnd): LogEnd {
  return { next: start.next + lineCount, bytes: rows.reduce((sum, { row }) => sum + row.bytes, start.bytes) }
}

/** The lines of a row that must begin with line `from`; else `corrupt`. Checked by hand, since replay runs it on each row. */
export function linesOf(row: unknown, from: Seq): string[] {
  const { from: found, bytes, text } = (row ?? {}) as Partial<Record<keyof LogRow, unknown>>
  const at = `log row ${from}`
  if (typeof text !== "string" || typeof bytes !== "number" || typeof found !== "number" || text === "") {
    throw corruptError(`The row of line ${from} is damaged`, { at })
  }
  if (found !== from)
    throw corruptError(`The row of line ${from} is missing; the next row begins with line ${found}`, { at })
  return text.split("\n")
}

/** The lines `from` to `to` of contiguous rows, in chunks. */
export function* chunksOf(rows: readonly LogRow[], from: Seq, to: Seq): Generator<Chunk, void, undefined> {
  let chunkFrom = from
  let lines: string[] = []
  let bytes = 0
  let rowFrom = rows[0]?.from ?? from
  for (const row of rows) {
    const all = linesOf(row, rowFrom)
    const isClipped = rowFrom < from || rowFrom + all.length > to
    const own = isClipped ? all.slice(Math.max(0, from - rowFrom), Math.max(0, to - rowFrom)) : all
    if (lines.length > 0 && bytes + row.bytes > MAX_CHUNK_BYTES) {
      yield { from: chunkFrom, lines }
      chunkFrom += lines.length
      lines = []
      bytes = 0
    }
    if (lines.length === 0) lines = own
    else for (const line of own) lines.push(line)
    bytes += row.bytes
    rowFrom += all.length
  }
  if (lines.length > 0) yield { from: chunkFrom, lines }
}
