/** Lists the sessions, newest first. */
import { type AdapterListRow, type HeadInfo, type StorageAdapter, toListRow } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import type { Database } from "./database.ts"
import { headOf } from "./heads.ts"
import { IDS } from "./order.ts"

/** With 8 KB of info each, 8 MB. */
const PAGE = 1000
/** Most callers show a page of 50 and stop. */
const FIRST_PAGE = 64

/**
 * After the first page, the order is that of one statement, which reads an index alone: 100,000 ids take some 30 ms. Paging by time would
 * miss a session that moves to the front during the listing.
 */
export function createList(db: Database): StorageAdapter["list"] {
  return async function* list({ limit, signal }) {
    const idsUpTo = (most: number) =>
      db.read((tx) => tx.query<{ id: string }>(IDS).all(most === Number.POSITIVE_INFINITY ? -1 : most), { signal })
    const rowsFor = (ids: readonly { id: string }[]) =>
      db.read((tx) => ids.flatMap(({ id }) => rowsOf(tx, id)), { signal })
    const first = await idsUpTo(Math.min(limit, FIRST_PAGE))
    yield await rowsFor(first)
    if (first.length < FIRST_PAGE) return
    const listed = new Set(first.map(({ id }) => id))
    const rest = (await idsUpTo(limit)).filter(({ id }) => !listed.has(id))
    for (let at = 0; at < rest.length; at += PAGE) yield await rowsFor(rest.slice(at, at + PAGE))
  }
}

/** No row for a session that was deleted since. */
function rowsOf(tx: Connection, id: string): AdapterListRow[] {
  let isDeleted = false
  const row = toListRow(id, () => {
    const head = headOf(tx, id)
    isDeleted = head === undefined
    return head as HeadInfo
  })
  return isDeleted ? [] : [row]
}
