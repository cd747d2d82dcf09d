/** Finding and loading the rows of a range of lines, a page at a time. */
import { type CheckedRange, type Seq, StorageError } from "@sessions/core/storage"
import { type HeadRow, type LogRow, type Reading, type RowKey, rowsOf, type Writing } from "../database/schema.ts"
import { corrupt } from "../database/errors.ts"
import { headRow } from "./heads.ts"
import { chunksOf, linesOf } from "./rows.ts"

/** Whole rows that hold the lines from `from` to `to`: the first may begin before, the last end after them. */
export interface Page {
  readonly from: Seq
  readonly to: Seq
  readonly rows: readonly LogRow[]
  readonly next?: Span
}

/** Rows that are not loaded yet: those that start from `from` on and before `end`. Both are where rows start, if they are not folded meanwhile. */
interface Span {
  readonly from: Seq
  readonly end: Seq
  /** Where the row of `from` starts in the log's bytes. */
  readonly offset: number
  /** The same of the row of `end`, where it was seen. Folding moves no row that stays the start of one. */
  readonly endOffset?: number
}

/** Until where a reader goes, and how much of it at a time. */
interface Wanted {
  readonly to: Seq
  /** One transaction loads about as much, at most twice as much, unless a single row is larger. */
  readonly pageBytes: number
}

/** The first page of a range; nothing where there is no such line. */
export async function openLog(
  tx: Reading,
  session: string,
  range: CheckedRange,
  pageBytes: number,
): Promise<{ log: string; wanted: Wanted; page: Page } | undefined> {
  const head = await headRow(tx, session)
  if (head === undefined) return undefined
  const to = Math.min(range.last === undefined ? range.to : range.before, head.next)
  const from = range.last === undefined ? range.from : Math.max(0, to - range.last)
  if (from >= to) return undefined
  const wanted = { to, pageBytes }
  return { log: head.log, wanted, page: await pageAt(tx, head, from, wanted) }
}

/** The page that was planned; the one after it is planned meanwhile. */
export async function nextPage(tx: Reading, session: string, log: string, span: Span, wanted: Wanted): Promise<Page> {
  const checking = sameLog(tx, session, log)
  const loading = tx.objectStore("log").getAll(rowsOf(log, span.from, span.end))
  const head = await checking
  const planned = await spanAfter(tx, head, span, wanted)
  const rows = await loading
  if (rows[0]?.from !== span.from) return pageAt(tx, head, span.from, wanted)
  return toPage(tx, head, { from: span.from, span, rows, planned }, wanted)
}

/** The page that begins with this line, wherever in a row it stands. */
async function pageAt(tx: Reading, head: HeadRow, from: Seq, wanted: Wanted): Promise<Page> {
  const [, start, offset] = await holderOf(tx, head.log, from)
  const span = await spanFrom(tx, head, { from: start, offset }, wanted)
  const loading = tx.objectStore("log").getAll(rowsOf(head.log, span.from, span.end))
  const planned = await spanAfter(tx, head, span, wanted)
  return toPage(tx, head, { from, span, rows: await loading, planned }, wanted)
}

interface Loaded {
  readonly from: Seq
  readonly span: Span
  readonly rows: readonly LogRow[]
  /** The span behind this one; missing where this one goes to the end of the range. */
  readonly planned: Span | undefined
}

async function toPage(tx: Reading, head: HeadRow, loaded: Loaded, wanted: Wanted): Promise<Page> {
  const { from, span, rows, planned } = loaded
  const last = rows.at(-1)
  if (last === undefined || (rows[0]?.from ?? 0) > from) throw missing(from)
  const end = last.from + linesOf(last, last.from).length
  if (end >= wanted.to) return { from, to: wanted.to, rows }
  if (planned?.from === end) return { from, to: end, rows, next: planned }
  // The last row was folded with what followed it. What else does not fit was changed by somebody else.
  if (end < span.end) throw missing(end)
  const offset = rows.reduce((sum, row) => sum + row.bytes, span.offset)
  return { from, to: end, rows, next: await spanFrom(tx, head, { from: end, offset }, wanted) }
}

async function spanAfter(tx: Reading, head: HeadRow, span: Span, wanted: Wanted): Promise<Span | undefined> {
  if (span.end >= wanted.to) return undefined
  // Where it starts no row any more, the page that is loaded ends elsewhere, and nobody goes by this plan.
  if (span.endOffset !== undefined) return spanFrom(tx, head, { from: span.end, offset: span.endOffset }, wanted)
  const [, from, offset] = await holderOf(tx, head.log, span.end)
  return spanFrom(tx, head, { from, offset }, wanted)
}

/**
 * About as many rows as make a page. Keys hold where a row starts in the log's bytes, so that looking at one tells how much lies before
 * it; which one to look at follows from the length of the lines on average.
 */
async function spanFrom(
  tx: Reading,
  { log, next, bytes }: HeadRow,
  { from, offset }: { from: Seq; offset: number },
  { to, pageBytes }: Wanted,
): Promise<Span> {
  if (bytes - offset <= 2 * pageBytes) return { from, end: to, offset }
  let lines = Math.ceil((pageBytes * (next - from)) / (bytes - offset))
  while (lines > 0) {
    const [, end, at] = await holderOf(tx, log, Math.min(from + lines, next - 1))
    if (end <= from) break
    if (at - offset <= 2 * pageBytes) return end < to ? { from, end, offset, endOffset: at } : { from, end: to, offset }
    lines = Math.floor((end - from) / 2)
  }
  // One row that is as large as a page.
  return { from, end: from + 1, offset }
}

/** The lines of a log, for writers that look at it. */
export async function linesBetween(tx: Reading | Writing, log: string, from: Seq, to: Seq): Promise<string[]> {
  const [, start] = await holderOf(tx, log, from)
  const rows = await tx.objectStore("log").getAll(rowsOf(log, start, to))
  return [...chunksOf(rows, from, to)].flatMap(({ lines }) => lines)
}

export async function sameLog(tx: Reading, session: string, log: string): Promise<HeadRow> {
  const head = await headRow(tx, session)
  if (head?.log === log) return head
  throw new StorageError("conflict", `The log of ${session} was deleted or replaced while it was read. Read it anew.`, {
    session,
  })
}

/** The key of the row that holds a line. */
async function holderOf(tx: Reading | Writing, log: string, seq: Seq): Promise<RowKey> {
  if (seq === 0) return [log, 0, 0]
  const before = IDBKeyRange.bound([log], [log, seq, Number.POSITIVE_INFINITY])
  const cursor = await tx.objectStore("log").openKeyCursor(before, "prev")
  return cursor?.key ?? [log, 0, 0]
}

function missing(seq: Seq): StorageError {
  return corrupt(`Line ${seq} is missing, which the head counts`, { at: `log row ${seq}` })
}
