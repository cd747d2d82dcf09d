/** Appends: one statement that compares and advances the head, and inserts the lines. */
import {
  checkExpect,
  type Head,
  lineMark,
  MAX_CHUNK_BYTES,
  newLog,
  type StorageAdapter,
  StorageError,
  toUtf8,
  utf8Length,
} from "@sessions/core/storage"
import type { Database } from "./database.ts"
import { settle } from "./errors.ts"
import { NOW, type ReadHead } from "./heads.ts"
import type { Tables } from "./schema.ts"

/** The lines of a batch as rows. */
export interface Batch {
  /** All lines, each with its LF. */
  readonly body: Uint8Array
  readonly lines: number
  /** Of each row: its lines, and its size in bytes. */
  readonly rows: readonly { readonly lines: number; readonly bytes: number }[]
}

/** A row has at most 256 KB, unless a single line is longer: a window that begins in it reads no more than that in vain. */
export function toBatch(lines: readonly string[]): Batch {
  const body = toUtf8(`${lines.join("\n")}\n`)
  if (body.length <= MAX_CHUNK_BYTES || lines.length === 1)
    return { body, lines: lines.length, rows: [{ lines: lines.length, bytes: body.length }] }
  const rows: { lines: number; bytes: number }[] = []
  let row = { lines: 0, bytes: 0 }
  for (const line of lines) {
    const bytes = utf8Length(line) + 1
    if (row.lines === 0 || row.bytes + bytes > MAX_CHUNK_BYTES) rows.push((row = { lines: 0, bytes: 0 }))
    row.lines++
    row.bytes += bytes
  }
  return { body, lines: lines.length, rows }
}

/**
 * Inserts the rows of a batch behind the single row `{log, seq}` of `head`. `$1` append, `$2` body; of one row `$3` lines, of several
 * `$3` to `$5`: the rows' first lines, numbers of lines and sizes.
 */
export function insertSql({ batch }: Tables, head: string, several: boolean): string {
  const columns = `INSERT INTO ${batch} (log, seq, lines, bytes, append, body)`
  if (!several) return `${columns} SELECT log, seq, $3::int, length($2::bytea), $1::text, $2::bytea FROM ${head}`
  return `${columns}
    SELECT log, seq + at, n, size, $1::text, substring($2::bytea FROM (sum(size) OVER (ORDER BY at))::int - size + 1 FOR size)
    FROM ${head}, unnest($3::int[], $4::int[], $5::int[]) AS r (at, n, size)`
}

/** The values of {@link insertSql}. */
export function insertValues(append: string, { body, lines, rows }: Batch): unknown[] {
  if (rows.length === 1) return [append, body, lines]
  let at = 0
  const starts = rows.map((row) => (at += row.lines) - row.lines)
  return [append, body, starts, rows.map((row) => row.lines), rows.map((row) => row.bytes)]
}

/** The same statement for batches of one row and of several. */
type Pair = readonly [one: string, several: string]

function pair(make: (several: boolean, ...values: readonly string[]) => string): Pair {
  return [
    make(false, "$4::text", "$5::text", "$6::bytea", "$7::int", "$8::bigint", "$9::bigint", "$10::bigint"),
    make(true, "$6::text", "$7::text", "$8::bytea", "$9::int", "$10::bigint", "$11::bigint", "$12::bigint"),
  ]
}

/** After an answer was lost: the identity of the log, and the append at the seq. */
interface Whose {
  readonly log: string
  readonly append: string | null
}

export function createAppend(db: Database, tables: Tables, head: ReadHead): StorageAdapter["append"] {
  const { session, batch } = tables
  // Of concurrent creations the others wait for the first, and meet its row.
  const create = pair(
    (several, id, log, info, lines, mark) => `WITH made AS (
      INSERT INTO ${session} (id, log, next, bytes, updated_at, info, info_next, mark, mark_bytes)
      VALUES (${id}, ${log}, ${lines}, length($2::bytea), ${NOW}, ${info}, CASE WHEN ${info} IS NOT NULL THEN ${lines} END,
        ${mark}, length($2::bytea))
      ON CONFLICT (id) DO NOTHING RETURNING log, 0::bigint AS seq, next),
    put AS (${insertSql(tables, "made", several)})
    SELECT next FROM made`,
  )
  // The update waits for the row's lock, then compares the row as it is by then.
  const extend = pair(
    (several, id, log, info, lines, mark, next, known) => `WITH head AS (
      UPDATE ${session} SET next = next + ${lines}, bytes = bytes + length($2::bytea),
        updated_at = greatest(updated_at, ${NOW}), info = coalesce(${info}, info),
        info_next = CASE WHEN ${info} IS NULL THEN info_next ELSE next + ${lines} END,
        mark = ${mark}, mark_bytes = bytes + length($2::bytea)
      WHERE id = ${id} AND log = ${log} AND next = ${next}
        AND (mark = ${known} OR mark IS NULL OR mark_bytes IS DISTINCT FROM bytes OR ${known} IS NULL) RETURNING log, next - ${lines} AS seq, next),
    put AS (${insertSql(tables, "head", several)})
    SELECT next FROM head`,
  )
  const whose = `SELECT s.log, b.append FROM ${session} s LEFT JOIN ${batch} b ON b.log = s.log AND b.seq = $2::bigint
    WHERE s.id = $1`

  return async (id, lines, { expect, info }) => {
    const contents = toBatch(lines)
    const append = newLog()
    const log = expect === 0 ? newLog() : expect.log
    const after: Head = { next: (expect === 0 ? 0 : expect.next) + lines.length, log }
    const mark = lineMark(lines.at(-1) as string)
    const values = [
      ...insertValues(append, contents),
      id,
      log,
      info === undefined ? null : toUtf8(info),
      lines.length,
      mark,
    ]
    if (expect !== 0) values.push(expect.next, expect.mark ?? null)
    const sql = (expect === 0 ? create : extend)[contents.rows.length === 1 ? 0 : 1]
    const { rows, lost } = await (expect === 0 ? db.make(sql, values) : db.run(sql, values))
    if (rows.length > 0) return after
    if (lost !== undefined) {
      // A repeat has waited for the first attempt if that was under way, and no later one can match the head any more.
      const [found] = await settle(lost, () => db.query<Whose>(whose, [id, after.next - lines.length]))
      if (found?.append === append) {
        if (expect === 0) await settle(lost, () => db.awaitStandby())
        return after
      }
      if (found?.log !== log) throw deletedMeanwhileError()
    }
    checkExpect(await head(id), expect)
    // Whatever was in the way is gone again.
    throw new StorageError("conflict", "Nothing was written: the session was changed meanwhile; read it again.")
  }
}

function deletedMeanwhileError(): StorageError {
  const message =
    "The answer to the append was lost, and the session is missing or has another log; read it to see whether it has the lines."
  return new StorageError("indeterminate", message)
}
