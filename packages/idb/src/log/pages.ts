/** Loads the rows of a range of lines, one page (about a megabyte of rows) per transaction. */
import { type CheckedRange, rangeIn, type Seq, StorageError } from "@sessions/core/storage"
import { corrupt } from "../database/errors.ts"
import {
  type HeadRow,
  type LogRow,
  type ReadTransaction,
  type RowKey,
  rowRange,
  type WriteTransaction,
} from "../database/schema.ts"
import { findRowKey, findWindow } from "./find-rows.ts"
import { getHead } from "./heads.ts"
import { chunksOf, linesOf } from "./rows.ts"

/** The rows that contain the lines `from` to `to`. The first row may begin before `from`, the last may end after `to`. */
export interface Page {
  readonly from: Seq
  readonly to: Seq
  readonly rows: readonly LogRow[]
  /** The rows of the next page. */
  readonly next: Plan
}

/** The rows of a page that is not loaded yet: they end before the line `end`. Fewer than `count` if some are merged before. */
interface Plan {
  readonly count: number
  readonly end: Seq
}

/** What is left of a range. */
interface Rest {
  readonly log: string
  readonly from: Seq
  readonly to: Seq
  readonly plan?: Plan
}

/** The first page of a range or window of the log that ends at `to`; undefined if it holds no line. */
export async function firstPage(
  tx: ReadTransaction,
  session: string,
  range: CheckedRange,
  pageBytes: number,
): Promise<{ log: string; to: Seq; page: Page } | undefined> {
  const head = await getHead(tx, session)
  const { from: first, to } = rangeIn(range, head)
  if (head === undefined || first >= to) return undefined
  const { log } = head
  const from = range.maxBytes === undefined ? first : await findWindow(tx, head, to, range.maxBytes)
  return { log, to, page: await loadPage(tx, head, { log, from, to }, pageBytes) }
}

/** The first page of what is left of a range. `conflict` if the log was replaced. */
export function nextPage(tx: ReadTransaction, session: string, rest: Rest, pageBytes: number): Promise<Page> {
  return loadPage(tx, checkSameLog(tx, session, rest.log), rest, pageBytes)
}

/** The first page has at most this many rows, each later one twice as many as the page before. */
const FIRST_ROWS = 128

/**
 * Loads the rows of a page, and its keys with those of the next page: keys say how many lines and bytes each row has. The rows of a planned
 * page are requested at once, so that the engine loads them while the caller uses the page before.
 */
async function loadPage(
  tx: ReadTransaction,
  finding: HeadRow | Promise<HeadRow>,
  { log, from, to, plan }: Rest,
  pageBytes: number,
): Promise<Page> {
  const store = tx.objectStore("log")
  const most = plan?.count ?? FIRST_ROWS
  const [head, keys, planned] = await Promise.all([
    finding,
    store.getAllKeys(rowRange(log, from), 3 * most + 1),
    plan && store.getAll(rowRange(log, from, plan.end)),
  ])
  if (keys.length <= 3 * most) keys.push([log, head.next, head.bytes])
  let rows = planned
  if (keys[0]?.[1] !== from) {
    // The line is in the middle of a row, perhaps because rows were merged after the page before.
    keys.unshift(await findRowKey(tx, log, from))
    rows = undefined
  }
  const [[, start]] = keys as [RowKey]
  rows ??= await store.getAll(rowRange(log, start, planOf(keys.slice(0, most + 1), to, pageBytes).end))
  if (rows[0]?.from !== start) throw missingLine(from)
  // A row with more lines than it should have would hide as many of the next one.
  const [[, last], [, end]] = keys.slice(rows.length - 1) as [RowKey, RowKey]
  const found = last + linesOf(rows.at(-1), last).length
  if (found < end) throw missingLine(found)
  if (found > end) {
    throw corrupt(`The row of line ${last} has lines up to ${found - 1}, but line ${end} comes after it`, {
      at: `log row ${last}`,
    })
  }
  const next = planOf(keys.slice(rows.length, 3 * rows.length + 1), to, pageBytes)
  return { from, to: Math.min(end, to), rows, next }
}

/** The rows that fill a page or reach the end of the range. The last one of the keys is that after the last row. */
function planOf(keys: readonly RowKey[], to: Seq, pageBytes: number): Plan {
  const [[, , offset]] = keys as [RowKey]
  const full = keys.findIndex(([, seq, at]) => seq >= to || at - offset >= pageBytes)
  const count = full < 0 ? keys.length - 1 : full
  return { count, end: (keys[count] as RowKey)[1] }
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

function missingLine(seq: Seq): StorageError {
  return corrupt(`Line ${seq} is missing, although the head counts it`, { at: `log row ${seq}` })
}
