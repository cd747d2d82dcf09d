/**
 * Reads a log page by page. Each page is a transaction of its own, which checks that the session still has the same log. Rows may be
 * merged between two pages, so a reader continues by seq and not by row.
 */
import type { Chunk, CheckedRange } from "@sessions/core/storage"
import type { ReadTransaction } from "../schema.ts"
import { checkSameLog, firstPage, nextPage, type Page } from "./pages.ts"
import { chunksOf } from "./rows.ts"

/** Large enough to hide the latency of a transaction, small enough to hold two pages in memory. */
const PAGE_BYTES = 1_000_000
/** A log with at least this many rows, of a smaller average size than this, is worth compacting. */
const SMALL_ROW_BYTES = 8_000
const MANY_ROWS = 64

export interface ReadOptions {
  readonly transaction: <T>(work: (tx: ReadTransaction) => Promise<T>) => Promise<T>
  /** Called at the end if the log consists of many small rows. */
  readonly onManySmallRows: () => void
  /** Default: a megabyte. */
  readonly pageBytes?: number
}

export async function* readLog(
  session: string,
  range: CheckedRange,
  { transaction, onManySmallRows, pageBytes = PAGE_BYTES }: ReadOptions,
): AsyncGenerator<Chunk, void, undefined> {
  const first = await transaction((tx) => firstPage(tx, session, range, pageBytes))
  if (first === undefined) return
  const { log, target } = first
  const seen = { chunks: 0, rows: 0, bytes: 0 }
  let page: Page | undefined = first.page
  while (page !== undefined) {
    const { rows, from, to, next }: Page = page
    // Loads the next page while the caller uses this one.
    const following: Promise<Page> | undefined = next && transaction((tx) => nextPage(tx, session, log, next, target))
    following?.catch(() => undefined)
    for (const chunk of chunksOf(rows, from, to)) {
      seen.chunks++
      yield chunk
    }
    seen.rows += rows.length
    for (const { bytes } of rows) seen.bytes += bytes
    page = await following
  }
  if (seen.rows >= MANY_ROWS && seen.bytes < seen.rows * SMALL_ROW_BYTES) onManySmallRows()
  // A log that was replaced during the read is a `conflict`, even if all its pages had been loaded before.
  if (seen.chunks > 1) await transaction((tx) => checkSameLog(tx, session, log))
}
