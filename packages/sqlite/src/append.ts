/** Appends a batch: the session's row and the rows of the lines, in one transaction. */
import { type Head, headAfter, newLog, type StorageAdapter, toUtf8 } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import { toBlob } from "./driver/library.ts"
import type { Database } from "./database.ts"
import { headOf, numberOf } from "./heads.ts"
import { type Row, toRows } from "./lines.ts"

const CREATE = `INSERT INTO session (id, log, next, bytes, updated_at, info, info_next)
  VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING n`
const GROW = `UPDATE session SET next = ?, bytes = ?, updated_at = ?, info = coalesce(?, info),
  info_next = coalesce(?, info_next) WHERE id = ? RETURNING n`
const BATCH = "INSERT INTO batch (n, seq, lines, bytes, append, body) VALUES (?, ?, ?, ?, ?, ?)"
const STORED = "SELECT 1 FROM batch WHERE n = ? AND seq = ? AND append = ?"

export function createAppend(db: Database, changed: (session: string) => void): StorageAdapter["append"] {
  return async (session, lines, o) => {
    const rows = toRows(lines)
    const append = newLog()
    const info = o.info === undefined ? null : toBlob(toUtf8(o.info))
    const head = await db.write<Head>(
      (tx) => {
        const { log, next, bytes, updatedAt } = headAfter(headOf(tx, session), lines, o)
        const infoNext = info && next
        const made =
          o.expect === 0
            ? tx.query<{ n: number }>(CREATE).get(session, log, next, bytes, updatedAt, info, infoNext)
            : tx.query<{ n: number }>(GROW).get(next, bytes, updatedAt, info, infoNext, session)
        insertRows(tx, (made as { n: number }).n, next - lines.length, append, rows)
        return { next, log }
      },
      {
        signal: o.signal,
        isStored(tx) {
          const stored = headOf(tx, session)
          const n = stored && numberOf(tx, session, stored.log)
          const seq = o.expect === 0 ? 0 : o.expect.next
          return n !== undefined && tx.query(STORED).get(n, seq, append) !== undefined
        },
      },
    )
    changed(session)
    return head
  }
}

/** Inserts rows that begin at `seq`. Returns the seq after them. */
export function insertRows(tx: Connection, n: number, seq: number, append: string, rows: readonly Row[]): number {
  let next = seq
  for (const { lines, body } of rows) {
    tx.run(BATCH, n, next, lines, body.length, append, body)
    next += lines
  }
  return next
}
