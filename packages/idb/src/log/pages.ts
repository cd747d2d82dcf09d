/** Finds and loads the rows of a range of lines, one page (about a megabyte of rows) per transaction. */
import { type CheckedRange, rangeIn, type Seq, StorageError } from "@sessions/core/storage"
import { corruptError } from "../database/errors.ts"
import { type HeadRow, type LogRow, type ReadTransaction, rowRange, type WriteTransaction } from "../schema.ts"
import { findRowKey, findWindow } from "./find-rows.ts"
import { getHead } from "./heads.ts"
import { chunksOf, linesOf } from "./rows.ts"

/** Whole rows that contain the lines `from` to `to`. The first row may begin before `from`, the last may end after `to`. */
export interface Page {
  readonly from: Seq
  readonly to: Seq
  readonly rows: readonly LogRow[]
  /** The rows of the next page; missing on the last page. */
  readonly next?: RowSpan
}

/**
 * Rows that are not loaded yet: those that begin at or after `from` and before `end`. A row begins at each of the two, unless rows
 * are merged before the span is loaded.
 */
interface RowSpan {
  readonly from: Seq
  readonly end: Seq
  /** The byte offset of the row that begins with `from`. */
  readonly offset: number
  /** The byte offset of the row that begins with `end`, if it is known. Merging does not change it while a row begins there. */
  readonly endOffset?: number
}

interface ReadTarget {
  /** The end of the range to read. */
  readonly to: Seq
  /** A page holds about this many bytes, and at most twice as many unless a single row is larger. */
  readonly pageBytes: number
}

/** The first page of a range or window; undefined if it holds no line. */
export async function firstPage(
  tx: ReadTransaction,
  session: string,
  range: CheckedRange,
  pageBytes: number,
): Promise<{ log: string; target: ReadTarget; page: Page } | undefined> {
  const head = await getHead(tx, session)
  const { from: first, to } = rangeIn(range, head)
  if (head === undefined || first >= to) return undefined
  const from = range.maxBytes === undefined ? first : await findWindow(tx, head, to, range.maxBytes)
  const target = { to, pageBytes }
  return { log: head.log, target, page: await loadPageAt(tx, head, from, target) }
}

/** Loads the page that was planned with the page before it, and plans the one after it. `conflict` if the log was replaced. */
export async function nextPage(
  tx: ReadTransaction,
  session: string,
  log: string,
  span: RowSpan,
  target: ReadTarget,
): Promise<Page> {
  const checking = checkSameLog(tx, session, log)
  const loading = tx.objectStore("log").getAll(rowRange(log, span.from, span.end))
  const head = await checking
  const planned = await planAfter(tx, head, span, target)
  const rows = await loading
  // The first row was merged into the one before it.
  if (rows[0]?.from !== span.from) return loadPageAt(tx, head, span.from, target)
  return toPage(tx, head, { from: span.from, span, rows, planned }, target)
}

/** Loads the page that begins with a line, which may be in the middle of a row. */
async function loadPageAt(tx: ReadTransaction, head: HeadRow, from: Seq, target: ReadTarget): Promise<Page> {
  const [, start, offset] = await findRowKey(tx, head.log, from)
  const span = await planFrom(tx, head, { from: start, offset }, target)
  const loading = tx.objectStore("log").getAll(rowRange(head.log, span.from, span.end))
  const planned = await planAfter(tx, head, span, target)
  return toPage(tx, head, { from, span, rows: await loading, planned }, target)
}

interface LoadedSpan {
  readonly from: Seq
  readonly span: RowSpan
  readonly rows: readonly LogRow[]
  /** The span after this one; undefined if this one reaches the end of the range. */
  readonly planned: RowSpan | undefined
}

async function toPage(tx: ReadTransaction, head: HeadRow, loaded: LoadedSpan, target: ReadTarget): Promise<Page> {
  const { from, span, rows, planned } = loaded
  const last = rows.at(-1)
  const isNumbered = Number.isSafeInteger(rows[0]?.from) && Number.isSafeInteger(last?.from)
  if (last === undefined || !isNumbered || (rows[0]?.from ?? 0) > from) throw missingLineError(from)
  const end = last.from + linesOf(last, last.from).length
  if (end === target.to) return { from, to: end, rows }
  if (planned?.from === end) return { from, to: end, rows, next: planned }
  if (end < span.end) throw missingLineError(end)
  await checkEnd(tx, head, last.from, end)
  if (end > target.to) return { from, to: target.to, rows }
  // The last row was merged with rows after the span, so the next page begins later than planned.
  const offset = rows.reduce((sum, row) => sum + row.bytes, span.offset)
  return { from, to: end, rows, next: await planFrom(tx, head, { from: end, offset }, target) }
}

/** A row with more lines than it should have would hide as many of the next one. `end`: the line after its last one. */
async function checkEnd(tx: ReadTransaction, { log, next }: HeadRow, from: Seq, end: Seq): Promise<void> {
  const after = end < next ? (await findRowKey(tx, log, end))[1] : next
  if (after === end) return
  throw corruptError(`The row of line ${from} has lines up to ${end - 1}, but line ${after} comes after it`, {
    at: `log row ${from}`,
  })
}

async function planAfter(
  tx: ReadTransaction,
  head: HeadRow,
  span: RowSpan,
  target: ReadTarget,
): Promise<RowSpan | undefined> {
  if (span.end >= target.to) return undefined
  // If no row begins at `end` any more, the loaded page ends elsewhere, and `toPage` does not use this plan.
  if (span.endOffset !== undefined) return planFrom(tx, head, { from: span.end, offset: span.endOffset }, target)
  const [, from, offset] = await findRowKey(tx, head.log, span.end)
  return planFrom(tx, head, { from, offset }, target)
}

/**
 * Chooses how many rows make a page without loading them. The average length of a line gives a seq to look at, and the key of the row
 * that contains it gives the exact number of bytes before it. If that is too much, the number of lines is halved. The keys of all rows
 * would give the sizes at once, but listing those of each next page makes a replay of 200 MB a third slower in Chromium.
 */
async function planFrom(
  tx: ReadTransaction,
  { log, next, bytes }: HeadRow,
  { from, offset }: { from: Seq; offset: number },
  { to, pageBytes }: ReadTarget,
): Promise<RowSpan> {
  if (bytes - offset <= 2 * pageBytes) return { from, end: to, offset }
  let lines = Math.ceil((pageBytes * (next - from)) / (bytes - offset))
  while (lines > 0) {
    const [, end, endOffset] = await findRowKey(tx, log, Math.min(from + lines, next - 1))
    if (end <= from) break
    if (endOffset - offset <= 2 * pageBytes)
      return end < to ? { from, end, offset, endOffset } : { from, end: to, offset }
    lines = Math.floor((end - from) / 2)
  }
  // A single row that is larger than a page.
  return { from, end: from + 1, offset }
}

/** Reads a range of lines that fits into memory, within a transaction. */
export async function readLines(
  tx: ReadTransaction | WriteTransaction,
  log: string,
  from: Seq,
  to: Seq,
): Promise<string[]> {
  const [, start] = await findRowKey(tx, log, from)
  const rows = await tx.objectStore("log").getAll(rowRange(log, start, to))
  return [...chunksOf(rows, from, to)].flatMap(({ lines }) => lines)
}

/** The current head; `conflict` if the log was deleted or replaced. */
export async function checkSameLog(tx: ReadTransaction, session: string, log: string): Promise<HeadRow> {
  const head = await getHead(tx, session)
  if (head?.log === log) return head
  throw new StorageError("conflict", `The log of ${session} was deleted or replaced during the read. Read it again.`, {
    session,
  })
}

function missingLineError(seq: Seq): StorageError {
  return corruptError(`Line ${seq} is missing, although the head counts it`, { at: `log row ${seq}` })
}
