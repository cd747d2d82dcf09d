/** Appends a batch: the session's row and the rows of the lines, in one transaction. */
import { checkExpect, type Head, lineMark, newLog, type StorageAdapter, toUtf8 } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import { toBlob } from "./driver/library.ts"
import type { Database } from "./database.ts"
import { damagedRowError, headOf, numberOf } from "./heads.ts"
import { type Row, toRows } from "./lines.ts"
import { IS_FIRST, listAt, settle, TIME } from "./order.ts"

const CREATE = `INSERT INTO session (id, log, next, bytes, updated_at, info, info_next, mark, mark_bytes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n, updated_at AS time`
/** Matches only a sound row with the expected head, so an append need not read it first. */
const EXPECTED = `id = ? AND log = ? AND next = ? AND bytes >= 2 * next
  AND (mark = ? OR mark_bytes IS NOT bytes OR mark IS NULL OR ? IS NULL)`
const grow = (time: "updated_at" | "grown_at"): string => `UPDATE session SET next = ?, bytes = bytes + ?,
  ${time} = max(${TIME}, ?), info = coalesce(?, info), info_next = coalesce(?, info_next), mark = ?, mark_bytes = bytes + ? WHERE ${EXPECTED}
  RETURNING n, ${time} AS time`
const GROW = grow("updated_at")
/** Leaves the index of the list as it is. */
const GROW_FIRST = `${grow("grown_at")}, ${IS_FIRST} AS isFirst`
const BATCH = "INSERT INTO batch (n, seq, lines, bytes, append, body) VALUES (?, ?, ?, ?, ?, ?)"
const LAST_NUMBER = "SELECT seq FROM sqlite_sequence WHERE name = 'session'"
const STORED = "SELECT 1 FROM batch WHERE n = ? AND seq = ? AND append = ?"

interface Grown {
  readonly n: number
  readonly time: number
  /** Undefined: it is listed by its new time. */
  readonly isFirst?: 0 | 1
}

export function createAppend(db: Database, changed: (session: string) => void): StorageAdapter["append"] {
  // Random numbers for each append would cost more than its statements.
  const writer = newLog()
  let appends = 0
  /** Where this storage object appended last: probably the first session of the list. */
  let newest: string | undefined

  return async (session, lines, { expect, info, signal }) => {
    const rows = toRows(lines)
    const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
    const append = `${writer}-${appends++}`
    const from = expect === 0 ? 0 : expect.next
    const log = expect === 0 ? newLog() : expect.log
    const next = from + lines.length
    const mark = lineMark(lines.at(-1) as string)
    const known = expect === 0 ? null : (expect.mark ?? null)
    const [newInfo, infoNext] = info === undefined ? [null, null] : [toBlob(toUtf8(info)), next]
    let number = 0
    const head = await db.write<Head>(
      (tx) => {
        const now = Date.now()
        const grown =
          expect === 0
            ? tx.query<Grown>(CREATE).get(session, log, next, bytes, now, newInfo, infoNext, mark, bytes)
            : tx
                .query<Grown>(session === newest ? GROW_FIRST : GROW)
                .get(next, bytes, now, newInfo, infoNext, mark, bytes, session, log, from, known, known)
        if (grown === undefined) throw refusal(tx, session, expect)
        const { n, time, isFirst } = grown
        if (isFirst === undefined) settle(tx, n, time)
        else if (isFirst === 0) listAt(tx, n, time)
        newest = session
        number = n
        insertRows(tx, number, from, append, rows)
        return { next, log }
      },
      {
        signal,
        isStored(tx) {
          const n = numberOf(tx, session, log)
          if (n !== undefined) return tx.query(STORED).get(n, from, append) !== undefined
          // The log is gone, and the lines that it may have had with it. A log that never was has left its number free.
          const last = tx.query<{ seq: number }>(LAST_NUMBER).get()?.seq ?? 0
          return last < number ? false : undefined
        },
      },
    )
    changed(session)
    return head
  }
}

/** Why no row was written: another head, or a damaged row. */
function refusal(tx: Connection, session: string, expect: 0 | Head): Error {
  checkExpect(headOf(tx, session), expect)
  return damagedRowError(session)
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
