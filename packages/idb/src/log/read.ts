/** Reading a log by pages, each one transaction that holds the log against the head. Goes on by seq: rows are folded under a reader. */
import type { Chunk, CheckedRange } from "@sessions/core/storage"
import type { Reading } from "../database/schema.ts"
import { nextPage, openLog, type Page, sameLog } from "./pages.ts"
import { chunksOf } from "./rows.ts"

/** What a page holds, in bytes: enough to hide the way to the database and back, little enough to hold twice. */
const PAGE_BYTES = 1_000_000
/** Rows that are on average smaller than this, in numbers, are worth folding. */
const SMALL_ROW_BYTES = 8_000
const MANY_ROWS = 64

export interface ReadHooks {
  readonly transaction: <T>(work: (tx: Reading) => Promise<T>) => Promise<T>
  /** Told when the log turned out to be in many small rows. */
  readonly scattered: () => void
  /** Default a megabyte. */
  readonly pageBytes?: number
}

export async function* readLog(
  session: string,
  range: CheckedRange,
  { transaction, scattered, pageBytes = PAGE_BYTES }: ReadHooks,
): AsyncGenerator<Chunk, void, undefined> {
  const first = await transaction((tx) => openLog(tx, session, range, pageBytes))
  if (first === undefined) return
  const { log, wanted } = first
  const seen = { chunks: 0, rows: 0, bytes: 0 }
  let page: Page | undefined = first.page
  while (page !== undefined) {
    const { rows, from, to, next }: Page = page
    // The next page is on its way while this one is used.
    const following: Promise<Page> | undefined = next && transaction((tx) => nextPage(tx, session, log, next, wanted))
    following?.catch(() => undefined)
    for (const chunk of chunksOf(rows, from, to)) {
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
