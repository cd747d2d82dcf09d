import type { ListedSession } from "@sessions/core/storage"
import type { Reading } from "../database/schema.ts"
import { checkHeadRow, infoOf } from "./heads.ts"

/** How many heads one transaction loads: with 8 KB of info each, a megabyte. */
const PAGE = 128

type ReadTransaction = <T>(work: (tx: Reading) => Promise<T>) => Promise<T>

/**
 * Newest first. The order is that of the moment when the listing began; rows that come later are as they are when they come, and
 * sessions that were deleted meanwhile are left out. No log is opened.
 */
export async function* listSessions(
  limit: number,
  transaction: ReadTransaction,
): AsyncGenerator<readonly ListedSession[], void, undefined> {
  let { ids, rows } = await transaction(async (tx) => {
    const keys = await tx.objectStore("heads").index("updatedAt").getAllKeys()
    // Not getAll backwards, which has no such thing; cursors cost a turn of the event loop a row.
    const ids = keys.toReversed().slice(0, limit)
    return { ids, rows: await heads(tx, ids.slice(0, PAGE)) }
  })
  for (;;) {
    yield rows
    ids = ids.slice(PAGE)
    if (ids.length === 0) return
    rows = await transaction((tx) => heads(tx, ids.slice(0, PAGE)))
  }
}

async function heads(tx: Reading, ids: readonly string[]): Promise<ListedSession[]> {
  const rows = await Promise.all(ids.map((id) => tx.objectStore("heads").get(id)))
  return rows.flatMap((row, index) => {
    if (row === undefined) return []
    const id = ids[index] as string
    return { id, ...infoOf(checkHeadRow(row, id)) }
  })
}
