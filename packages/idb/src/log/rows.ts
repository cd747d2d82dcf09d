/** Lines and the rows that hold them. Pure. */
import { type Chunk, MAX_CHUNK_BYTES, type Seq, utf8Length } from "@sessions/core/storage"
import type { LogRow, RowKey } from "../database/schema.ts"
import { corrupt } from "../database/errors.ts"

/**
 * The size of a full row, in bytes. Chromium keeps a value of 64 KB or more in a file of its own: batches of 200 KB in one row took
 * twice as long as in four.
 */
export const ROW_BYTES = 60_000

export interface NewRow {
  readonly key: RowKey
  readonly row: LogRow
}

/** The end of what is written, from which the next rows go on. */
export interface End {
  readonly next: Seq
  readonly bytes: number
}

/**
 * Rows for the lines of a batch, each of at most {@link ROW_BYTES} UTF-16 units, so at most three times as many bytes, which a chunk still
 * holds; a longer line has a row of its own.
 */
export function toRows(log: string, at: End, lines: readonly string[], most: number = ROW_BYTES): NewRow[] {
  const rows: NewRow[] = []
  let { next, bytes: offset } = at
  let pending: string[] = []
  let size = 0
  const close = (): void => {
    if (pending.length === 0) return
    const text = pending.join("\n")
    const bytes = utf8Length(text) + 1
    rows.push({ key: [log, next, offset], row: { from: next, bytes, text } })
    next += pending.length
    offset += bytes
    pending = []
    size = 0
  }
  for (const line of lines) {
    // Units, not bytes: measuring each line by itself took a tenth of the time of an append.
    if (size + line.length + 1 > most) close()
    pending.push(line)
    size += line.length + 1
  }
  close()
  return rows
}

/** Where the rows end. */
export function endOf(rows: readonly NewRow[], lines: number, at: End): End {
  return { next: at.next + lines, bytes: rows.reduce((sum, { row }) => sum + row.bytes, at.bytes) }
}

/** The lines of a row; `corrupt` where it is not the row that must stand there. */
export function linesOf(row: unknown, from: Seq): string[] {
  const { from: start, bytes, text } = (row ?? {}) as Partial<Record<keyof LogRow, unknown>>
  const at = `log row ${from}`
  if (typeof text !== "string" || typeof bytes !== "number" || typeof start !== "number" || text === "") {
    throw corrupt(`The row of line ${from} is not one that was written here`, { at })
  }
  if (start !== from) throw corrupt(`The row of line ${from} is missing; the next one starts at ${start}`, { at })
  return text.split("\n")
}

/** Chunks of the lines of contiguous rows from `seq` on, up to `to`. */
export function* chunksOf(rows: readonly LogRow[], seq: Seq, to: Seq): Generator<Chunk, Seq, undefined> {
  let from = seq
  let lines: string[] = []
  let bytes = 0
  let at = rows[0]?.from ?? seq
  for (const row of rows) {
    const own = linesOf(row, at)
    const clipped = at < seq || at + own.length > to ? own.slice(Math.max(0, seq - at), Math.max(0, to - at)) : own
    if (lines.length > 0 && bytes + row.bytes > MAX_CHUNK_BYTES) {
      yield { from, lines }
      from += lines.length
      lines = []
      bytes = 0
    }
    if (lines.length === 0) lines = clipped
    else for (const line of clipped) lines.push(line)
    bytes += row.bytes
    at += own.length
  }
  if (lines.length > 0) yield { from, lines }
  return Math.min(at, to)
}
