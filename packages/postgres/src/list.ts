/** Lists the sessions, the newest first. */
import { type StorageAdapter, toListRow } from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import { COLUMNS, headOf, type Integer, NOW, type SessionRow } from "./heads.ts"
import type { Tables } from "./schema.ts"

/** Sessions of the first page, which suffices for the newest 50, and of the others: with 8 KB of info each, 8 MB. */
const FIRST_PAGE = 100
const PAGE = 1000
/** Longer than a step back of the server's clock between two pages. */
const CLOCK_STEP_MS = 60_000

/** The newest first, in pages that continue behind the last row of the page before. */
export function createList(db: Connection, { session }: Tables): StorageAdapter["list"] {
  // The order by minute uses the index.
  const newest = `SELECT ${COLUMNS}, ${NOW} AS now FROM ${session}
    WHERE $1::bigint IS NULL OR (minute <= $1::bigint / 60000 AND (updated_at, id) < ($1::bigint, $2::text COLLATE "C"))
    ORDER BY minute DESC, updated_at DESC, id DESC LIMIT $3::int`
  const moved = `SELECT ${COLUMNS} FROM ${session}
    WHERE minute >= $1::bigint / 60000 AND updated_at >= $1::bigint AND id > $2::text COLLATE "C" ORDER BY id LIMIT $3::int`

  return async function* list({ limit }) {
    const listed = new Set<string>()
    let began: number | undefined
    for (let last: SessionRow | undefined; ; ) {
      const size = Math.max(1, Math.min(limit, last === undefined ? FIRST_PAGE : PAGE))
      const rows: readonly (SessionRow & { readonly now: Integer })[] = await db.query(newest, [
        last === undefined ? null : Number(last.updated_at),
        last?.id ?? "",
        size,
      ])
      began ??= Number(rows[0]?.now ?? 0)
      const isSnapshot = last === undefined && rows.length < size
      yield rows.map(listRowOf)
      // One statement sees one state, in which no session moves.
      if (isSnapshot) return
      for (const { id } of rows) listed.add(id)
      last = rows.at(-1)
      if (rows.length < size || last === undefined) break
    }
    // A session that was appended to meanwhile has moved up, perhaps past the page that would have had it.
    const since = began - CLOCK_STEP_MS
    for (let after = ""; ; ) {
      const rows = await db.query<SessionRow>(moved, [since, after, PAGE])
      yield rows.filter(({ id }) => !listed.has(id)).map(listRowOf)
      after = rows.at(-1)?.id ?? after
      if (rows.length < PAGE) return
    }
  }
}

function listRowOf(row: SessionRow): ReturnType<typeof toListRow> {
  return toListRow(row.id, () => headOf(row))
}
