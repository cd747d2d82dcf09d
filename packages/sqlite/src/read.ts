/** Reads lines by seq, and finds where a window of bytes begins. Each page is one statement; no cursor is held between two. */
import {
  type FindWindow,
  type LinesPage,
  MAX_CHUNK_BYTES,
  readPages,
  type Seq,
  type StorageAdapter,
  StorageError,
  utf8Length,
} from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import type { Database } from "./database.ts"
import { headOf, numberOf } from "./heads.ts"
import { toLines } from "./lines.ts"

/** The row with a line, and the one before it. */
const FIRST = "SELECT seq, lines FROM batch WHERE n = ? AND seq <= ? ORDER BY seq DESC LIMIT 2"
const FORWARDS = "SELECT seq, lines, body FROM batch WHERE n = ? AND seq >= ? AND seq < ? ORDER BY seq"
/** The line behind those of a row: the first one of the next row, or the next one of the log. */
const BEHIND = `SELECT coalesce(
  (SELECT seq FROM batch WHERE n = ? AND seq > ? ORDER BY seq LIMIT 1),
  (SELECT next FROM session WHERE n = ?)) AS seq`
const BACKWARDS = "SELECT seq, lines, bytes FROM batch WHERE n = ? AND seq >= 0 AND seq < ? ORDER BY seq DESC"
const BODY = "SELECT body FROM batch WHERE n = ? AND seq = ?"

export function createRead(db: Database): StorageAdapter["read"] {
  const page: LinesPage = (session, log, from, to) =>
    db.read((tx) => {
      const n = numberOf(tx, session, log)
      if (n === undefined) return []
      return whileThere(tx, session, log, n, [], () => {
        const lines = pageOf(tx, n, from, to, session)
        if (lines.length === 0) throw missingLineError(session, from)
        return lines
      })
    })
  const findWindow: FindWindow = (session, log, before, maxBytes) =>
    db.read((tx) => {
      const n = numberOf(tx, session, log)
      if (n === undefined) return before
      return whileThere(tx, session, log, n, before, () => windowStart(tx, n, before, maxBytes, session))
    })
  return readPages((session) => db.read((tx) => headOf(tx, session)), page, findWindow)
}

/** What fails is damage only if the log is still there: between two statements another process may have deleted or replaced it. */
function whileThere<T>(tx: Connection, session: string, log: string, n: number, gone: T, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (numberOf(tx, session, log) !== n) return gone
    throw error
  }
}

interface LinesRow {
  readonly seq: number
  readonly lines: number
  readonly body: Uint8Array
}

/** The lines of a log from `from`, at most a chunk of them and not beyond `to`. They end before a damaged line, unless it is the first. */
function pageOf(tx: Connection, n: number, from: Seq, to: Seq, session: string): string[] {
  const [row, previous] = tx.query<{ seq: number; lines: number }>(FIRST).all(n, from)
  const first = row?.seq ?? from
  // One of the two rows has a wrong seq.
  if (previous !== undefined && previous.seq + previous.lines > first) throw missingLineError(session, from)
  const lines: string[] = []
  let [next, bytes, before, last] = [first, 0, 0, first]
  for (const { seq, lines: count, body } of tx.query<LinesRow>(FORWARDS).iterate(n, first, to)) {
    bytes += body.length
    // One of the two rows has a wrong seq, so the lines of the first one are not given either.
    if (seq < next) lines.length = before
    if (lines.length > 0 && (bytes > MAX_CHUNK_BYTES || seq !== next)) return lines
    if (seq !== next) throw missingLineError(session, Math.min(seq, next))
    next += count
    before = lines.length
    last = seq
    for (const line of toLines(body, count, rowAt(session, seq)).slice(Math.max(0, from - seq), to - seq)) {
      if (typeof line === "string") lines.push(line)
      else if (lines.length === 0) throw line
      else return lines
    }
  }
  if (endsBehind(tx, n, last, next)) lines.length = before
  return lines
}

/**
 * Whether a row has more lines than there are up to what comes after it: it has a wrong seq, so that its lines would be given at others. Asked after the
 * row was read: what other processes append meanwhile is behind it.
 */
function endsBehind(tx: Connection, n: number, seq: Seq, end: Seq): boolean {
  const behind = tx.query<{ seq: number | null }>(BEHIND).get(n, seq, n)?.seq ?? end
  return behind < end
}

/**
 * The first seq of a window. Whole rows are counted by their sizes; only the rows in which the window begins and ends are loaded. Of a
 * window of at most one chunk all rows are, because it has to begin after damage.
 */
function windowStart(tx: Connection, n: number, before: Seq, maxBytes: number, session: string): Seq {
  let from = before
  let left = maxBytes
  for (const row of tx.query<{ seq: number; lines: number; bytes: number }>(BACKWARDS).iterate(n, before)) {
    const end = row.seq + row.lines
    if (from === before ? end < from : end !== from) {
      if (from === before) throw missingLineError(session, before - 1)
      return from
    }
    const isWhole = end <= before
    if (isWhole && row.bytes <= left && maxBytes > MAX_CHUNK_BYTES) {
      left -= row.bytes
      from = row.seq
      continue
    }
    const { body } = tx.query<{ body: Uint8Array }>(BODY).get(n, row.seq) as { body: Uint8Array }
    for (const line of toLines(body, row.lines, rowAt(session, row.seq))
      .slice(0, from - row.seq)
      .reverse()) {
      if (typeof line !== "string") {
        if (from === before) throw line
        return from
      }
      left -= utf8Length(line) + 1
      if (left < 0 && from < before) return from
      from--
    }
    if (left <= 0) return from
  }
  if (from === before && before > 0) throw missingLineError(session, before - 1)
  return from
}

function missingLineError(session: string, seq: Seq): StorageError {
  const message = `Line ${seq} of ${session} is missing. Nothing is changed: restore the file from a backup, or delete the session.`
  return new StorageError("corrupt", message)
}

function rowAt(session: string, seq: Seq): string {
  return `row ${seq} of ${session}`
}
