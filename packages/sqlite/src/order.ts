/**
 * The order of the list, newest first. Its index has `updated_at`. An append to the first session of the list leaves it the first, so it
 * writes its time to `grown_at` alone: it then need not write the index, one page of four or five. The time of a session is the later of the two.
 *
 * The spans from `updated_at` to this time never overlap between two sessions, so that both give the same order; {@link settle} keeps it so
 * when a time comes twice or the clock goes back.
 */
import type { Connection } from "./driver/connection.ts"

/** The time of a session, as an expression. */
export const TIME = "max(updated_at, grown_at)"

const NEWEST_FIRST = "WHERE id IS NOT NULL ORDER BY updated_at DESC, id DESC LIMIT"

export const IDS: string = `SELECT id FROM session ${NEWEST_FIRST} ?`

/** Whether a row is that of the first session, as an expression. */
export const IS_FIRST: string = `n = (SELECT n FROM session ${NEWEST_FIRST} 1)`

const BEFORE = `SELECT n, ${TIME} AS time, updated_at AS listedAt FROM session
  WHERE id IS NOT NULL AND updated_at <= ? AND n <> ? ORDER BY updated_at DESC, id DESC LIMIT 1`
const LIST = `UPDATE session SET updated_at = ${TIME} WHERE n = ?`

/** Lists a session by its time, which its row has already. */
export function listAt(tx: Connection, n: number, time: number): void {
  settle(tx, n, time)
  tx.run(LIST, n)
}

/** Call it when a session is listed by this time: the span of another one may contain it. */
export function settle(tx: Connection, n: number, time: number): void {
  const before = tx.query<{ n: number; time: number; listedAt: number }>(BEFORE).get(time, n)
  if (before !== undefined && before.time >= time && before.listedAt < before.time) tx.run(LIST, before.n)
}
