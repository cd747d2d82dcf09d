/** Reading a log by pages, each one transaction that holds the log against the head. Goes on by seq: rows are folded under a reader. */
import { type Chunk, type CheckedRange, type Seq, StorageError } from "@sessions/core/storage"
import { type HeadRow, type LogRow, type Reading, type RowKey, rowsOf, type Writing } from "./database.ts"
import { corrupt } from "./errors.ts"
import { headRow } from "./heads.ts"
import { chunksOf, linesOf } from "./rows.ts"

/** What one transaction loads, in bytes: enough to hide the way to the database and back, little enough to hold twice. */
const PAGE_BYTES = 1_000_000
/** How many keys beyond a page are looked at, at least, to find out how many rows make the next one. */
const KEYS_AHEAD = 32
/** Rows that are on average smaller than this, in numbers, are worth folding. */
const SMALL_ROW_BYTES = 8_000
const MANY_ROWS = 64

export interface ReadHooks {
  readonly transaction: <T>(work: (tx: Reading) => Promise<T>) => Promise<T>
  /** Throws where the storage is closed or the signal has fired. */
  readonly enter: () => void
  /** Told when the log turned out to be in many small rows. */
  readonly scattered: () => void
}

export async function* readLog(
  session: string,
  range: CheckedRange,
  { transaction, enter, scattered }: ReadHooks,
): AsyncGenerator<Chunk, void, undefined> {
  const first = await transaction((tx) => openLog(tx, session, range))
  if (first === undefined) return
  const { log } = first
  const seen = { chunks: 0, rows: 0, bytes: 0 }
  let page: Page | undefined = first.page
  while (page !== undefined) {
    const { rows, from, to, next }: Page = page
    enter()
    // The next page is on its way while this one is used.
    const following: Promise<Page> | undefined = next && transaction((tx) => nextPage(tx, session, log, next, first.to))
    following?.catch(() => undefined)
    for (const chunk of chunksOf(rows, from, to)) {
      enter()
      seen.chunks++
      yield chunk
    }
    seen.rows += rows.length
    for (const { bytes } of rows) seen.bytes += bytes
    page = await following
  }
  if (seen.rows >= MANY_ROWS && seen.bytes < seen.rows * SMALL_ROW_BYTES) scattered()
  // A log that was taken away under its reader is a conflict, also if all of it had been loaded by then.
  if (seen.chunks > 1) await transaction((tx) => sameLog(tx, session, log))
}

/** The lines of a log, for writers that look at it. */
export async function linesBetween(tx: Reading | Writing, log: string, from: Seq, to: Seq): Promise<string[]> {
  const rows = await tx.objectStore("log").getAll(rangeOf(await holderOf(tx, log, from), to))
  return [...chunksOf(rows, from, to)].flatMap(({ lines }) => lines)
}

/** Rows that hold the lines from `from` to `to`. The first may begin before, the last end after them. */
interface Page {
  readonly from: Seq
  readonly to: Seq
  readonly rows: readonly LogRow[]
  readonly next?: Next
}

/** A page that is not loaded yet: where it begins and how many rows it has, if they are not folded meanwhile. */
interface Next {
  readonly from: Seq
  readonly rows: number
}

async function openLog(
  tx: Reading,
  session: string,
  range: CheckedRange,
): Promise<{ log: string; to: Seq; page: Page } | undefined> {
  const head = await headRow(tx, session)
  if (head === undefined) return undefined
  const to = Math.min(range.last === undefined ? range.to : range.before, head.next)
  const from = range.last === undefined ? range.from : Math.max(0, to - range.last)
  if (from >= to) return undefined
  const { log } = head
  if (from > 0 || head.bytes > PAGE_BYTES) return { log, to, page: await pageAt(tx, head, from, to) }
  // One request where the whole log is a page.
  const rows = await tx.objectStore("log").getAll(rangeOf([log, 0, 0], to))
  return { log, to, page: demandRows({ from, to, rows }) }
}

async function nextPage(tx: Reading, session: string, log: string, next: Next, to: Seq): Promise<Page> {
  const range = rowsOf(log, next.from, to)
  const most = next.rows + Math.max(KEYS_AHEAD, 2 * next.rows)
  const store = tx.objectStore("log")
  const [head, rows, keys] = await Promise.all([
    sameLog(tx, session, log),
    store.getAll(range, next.rows),
    store.getAllKeys(range, most),
  ])
  if (keys[0]?.[1] !== next.from) return pageAt(tx, head, next.from, to)
  return toPage({ rows, keys, most, from: next.from, to, bytes: head.bytes })
}

/** The page that begins with this line, wherever in a row it stands. */
async function pageAt(tx: Reading, { log, bytes }: HeadRow, from: Seq, to: Seq): Promise<Page> {
  const range = rangeOf(await holderOf(tx, log, from), to)
  const most = 4 * KEYS_AHEAD
  const keys = await tx.objectStore("log").getAllKeys(range, most)
  const count = rowsOfPage(keys, 0, keys.length < most ? bytes : undefined)
  const rows = await tx.objectStore("log").getAll(range, count)
  return toPage({ rows, keys, most, from, to, bytes })
}

interface Loaded {
  readonly rows: readonly LogRow[]
  /** Of these rows and of those behind them; all there are where fewer than `most` came. */
  readonly keys: readonly RowKey[]
  readonly most: number
  readonly from: Seq
  readonly to: Seq
  /** Of the whole log. */
  readonly bytes: number
}

function toPage({ rows, keys, most, from, to, bytes }: Loaded): Page {
  const key = keys[rows.length]
  if (key === undefined) return demandRows({ from, to, rows })
  const next = { from: key[1], rows: rowsOfPage(keys, rows.length, keys.length < most ? bytes : undefined) }
  return demandRows({ from, to: Math.min(to, key[1]), rows, next })
}

/** How many rows from this key on make a page: at least one. `end`, where the last key is the log's last. */
function rowsOfPage(keys: readonly RowKey[], start: number, end: number | undefined): number {
  const offset = keys[start]?.[2] ?? 0
  let count = 1
  while (start + count < keys.length) {
    const after = keys[start + count + 1]?.[2] ?? end
    if (after === undefined || after - offset > PAGE_BYTES) break
    count++
  }
  return count
}

/** Lines that the head counts are there, or the database was damaged. */
function demandRows(page: Page): Page {
  const { rows, from, to } = page
  const last = rows.at(-1)
  if (last === undefined) throw corrupt(`Line ${from} is missing, which the head counts`, { at: `log row ${from}` })
  const end = last.from + linesOf(last, last.from).length
  if (end < to) throw corrupt(`Line ${end} is missing, which the head counts`, { at: `log row ${end}` })
  return page
}

async function sameLog(tx: Reading, session: string, log: string): Promise<HeadRow> {
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

function rangeOf(start: RowKey, to: Seq): IDBKeyRange {
  return IDBKeyRange.bound(start, [start[0], to], false, true)
}
