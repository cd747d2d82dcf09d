/** The row of a session as its head. */
import { fromUtf8, type HeadInfo, StorageError } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import { TIME } from "./order.ts"

interface HeadRow {
  readonly log: string
  readonly next: number
  readonly bytes: number
  readonly updated_at: number
  readonly mark: number | null
  readonly info: Uint8Array | null
  readonly info_next: number | null
}

const HEAD = `SELECT log, next, bytes, ${TIME} AS updated_at, info, info_next,
  CASE WHEN mark_bytes = bytes THEN mark END AS mark FROM session WHERE id = ?`

/** Throws `corrupt` if the row cannot be what was written. */
export function headOf(db: Connection, session: string): HeadInfo | undefined {
  const row = db.query<HeadRow>(HEAD).get(session)
  if (row === undefined) return undefined
  const { log, next, bytes, updated_at: updatedAt, mark, info, info_next } = row
  const isSound = log !== "" && next > 0 && bytes >= 2 * next && [next, bytes, updatedAt].every(Number.isSafeInteger)
  if (!isSound) throw damagedRowError(session)
  const head = { log, next, bytes, updatedAt, ...(mark !== null && { mark }) }
  if (info === null) return head
  return { ...head, info: { text: fromUtf8(info, `the info of ${session}`), next: info_next ?? 0 } }
}

export function damagedRowError(session: string): StorageError {
  const message = `The row of ${session} is damaged: restore it from a backup, or delete the session.`
  return new StorageError("corrupt", message)
}

const NUMBER = "SELECT n FROM session WHERE id = ? AND log = ?"

/** The number of a log in the file; undefined if the session no longer has this log. */
export function numberOf(db: Connection, session: string, log: string): number | undefined {
  return db.query<{ n: number }>(NUMBER).get(session, log)?.n
}
