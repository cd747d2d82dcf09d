/** Reads ranges and windows of a log, a page of rows at a time. No cursor or transaction is held between two pages. */
import {
  afterDamage,
  type CheckedRange,
  type Chunk,
  rangeIn,
  type Seq,
  type StorageAdapter,
  StorageError,
} from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import type { Server } from "./durability.ts"
import { sqlState } from "./errors.ts"
import type { Integer } from "./heads.ts"
import { bytesBefore, missingLineError, type Row, toSteps } from "./rows.ts"
import type { Tables } from "./schema.ts"

/** Bytes and rows of a page. A read of one page shows one state of the log. */
const PAGE_BYTES = 1_000_000
const PAGE_ROWS = 1024

/** Rows in the order of their lines; at least one. */
interface Page {
  readonly rows: readonly Row[]
  /** Seq of the line after the last one. */
  readonly end: Seq
}

interface PageRow {
  readonly seq: Integer
  readonly lines: Integer
  readonly size: Integer
  readonly body: string | Uint8Array
}

/** A row of the first page, with the head. `seq` and the columns after it are null if the log has no row there. */
interface FirstRow extends PageRow {
  readonly log: string
  readonly next: Integer
  /** Of a window: the seq of its last row, whether that goes on behind the window, and the bytes of all rows that do not. */
  readonly last?: Integer | null
  readonly straddles?: boolean | null
  readonly full?: Integer | null
}

export function createRead(db: Connection, tables: Tables, server: () => Promise<Server>): StorageAdapter["read"] {
  const [first, window, following] = [firstSql(tables), windowSql(tables), followingSql(tables)]
  const exists = `SELECT 1 FROM ${tables.session} WHERE id = $1 AND log = $2`

  /** Drivers decode texts much faster than bytes. Bodies are read as bytes if the server finds one that is no text. */
  async function rowsOf<R>(sql: Sql, values: readonly unknown[]): Promise<readonly R[]> {
    if (!(await server()).isUtf8) return db.query<R>(sql.bytes, values)
    try {
      return await db.query<R>(sql.text, values)
    } catch (error) {
      if (sqlState(error) !== NO_TEXT) throw error
      return db.query<R>(sql.bytes, values)
    }
  }

  async function pageFrom(session: string, log: string, from: Seq, to: Seq, rows: number): Promise<Page> {
    const page = await rowsOf<PageRow>(following, [session, log, from, to, rows])
    if (page.length === 0 && (await db.query(exists, [session, log])).length === 0) throw deletedLogError()
    return pageOf(page, log, from)
  }

  async function* pages(session: string, log: string, page: Page, to: Seq): AsyncGenerator<Page, void, undefined> {
    let next: Promise<Page> | undefined
    try {
      for (let isFirst = true; ; isFirst = false) {
        // The next page is on its way while the reader handles this one.
        next = page.end < to ? pageFrom(session, log, page.end, to, rowsLike(page)) : undefined
        next?.catch(() => undefined)
        yield page
        if (next === undefined) {
          // The reader may have taken long for pages that were loaded before.
          if (!isFirst && (await db.query(exists, [session, log])).length === 0) throw deletedLogError()
          return
        }
        page = await next
      }
    } finally {
      // A reader that stops leaves no statement running.
      await next?.catch(() => undefined)
    }
  }

  async function* read(session: string, o: CheckedRange): AsyncGenerator<Chunk, void, undefined> {
    const { maxBytes } = o
    const found =
      maxBytes === undefined
        ? await rowsOf<FirstRow>(first, [session, o.log ?? null, o.from, o.to, PAGE_ROWS])
        : await rowsOf<FirstRow>(window, [session, o.log ?? null, maxBytes, o.to, PAGE_ROWS])
    const [row] = found
    const { from, to } = rangeIn(o, row && { log: row.log, next: Number(row.next) })
    if (row === undefined || from >= to) return
    const { log } = row
    const page = pageOf(row.seq === null ? [] : found, log, maxBytes === undefined ? from : undefined)
    if (maxBytes === undefined) {
      const steps = toSteps(pages(session, log, page, to), { log, from, to, skip: 0 })
      for await (const { before, damage } of steps) {
        if (before.lines.length > 0) yield before
        if (damage !== undefined) throw damage
      }
      return
    }
    let bytes = Number(row.full)
    if (page.end >= to) bytes = bytesBefore(page.rows, to, log)
    else if (row.straddles === true)
      bytes += bytesBefore((await pageFrom(session, log, Number(row.last), to, 1)).rows, to, log)
    const steps = toSteps(pages(session, log, page, to), { log, from, to, skip: bytes - maxBytes })
    for await (const { chunk } of afterDamage(steps, maxBytes)) yield chunk
  }

  return (session, o) => read(session, o)
}

/** As many rows as a page has if the next ones are of the same size, since the server looks at the size of each row up to this number. */
function rowsLike({ rows }: Page): number {
  const bytes = rows.reduce((sum, { size }) => sum + size, 0)
  return Math.min(PAGE_ROWS, Math.ceil((rows.length * PAGE_BYTES) / Math.max(1, bytes)))
}

/** Not UTF-8, or with U+0000. */
const NO_TEXT = "22021"

/** The same statement, with bodies as texts behind a point, since some drivers drop a BOM at the start of a text, and as bytes. */
interface Sql {
  readonly text: string
  readonly bytes: string
}

function both(sql: (body: string) => string): Sql {
  return { text: sql("'.' || convert_from(body, 'UTF8')"), bytes: sql("body") }
}

/** The rows of a page: from that with the line `first`, those before the line `to`, at most $5 and `PAGE_BYTES` unless one is larger. */
function rowsSql({ batch }: Tables, log: string, first: string, to: string, body: string): string {
  return `SELECT seq, lines, length(body) AS size, ${body} AS body FROM (
      SELECT seq, lines, bytes, body, sum(bytes) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) AS upto FROM (
        SELECT seq, lines, bytes, body FROM ${batch}
        WHERE log = ${log} AND seq >= ${first} AND seq < ${to} ORDER BY seq LIMIT $5::int) rows
    ) sizes WHERE upto - bytes < ${PAGE_BYTES}`
}

/** $1 id, $2 log or null, $3 from, $4 to, $5 rows. */
function firstSql(tables: Tables): Sql {
  const { session, batch } = tables
  const first = `coalesce((SELECT max(seq) FROM ${batch} WHERE log = s.log AND seq <= $3::bigint), 0)`
  return both(
    (body) => `SELECT s.log, s.next, p.* FROM ${session} s
    LEFT JOIN LATERAL (${rowsSql(tables, "s.log", first, "least($4::bigint, s.next)", body)}) p ON true
    WHERE s.id = $1 AND ($2::text IS NULL OR s.log = $2)`,
  )
}

/** $1 id, $2 log, $3 from, the first line of a row, $4 to, $5 rows. */
function followingSql(tables: Tables): Sql {
  return both(
    (body) => `${rowsSql(tables, "$2::text", "$3::bigint", "$4::bigint", body)}
    AND EXISTS (SELECT FROM ${tables.session} WHERE id = $1 AND log = $2)`,
  )
}

/**
 * $1 id, $2 log or null, $3 bytes, $4 to, $5 rows. Steps back row by row until they have the bytes; a row that goes on behind $4 counts
 * as none.
 */
function windowSql(tables: Tables): Sql {
  const { session, batch } = tables
  const before = (seq: string): string =>
    `SELECT seq, lines, bytes FROM ${batch} WHERE log = s.log AND seq < ${seq} ORDER BY seq DESC LIMIT 1`
  return both(
    (body) => `SELECT s.log, s.next, w.last, w.straddles, w.full, p.* FROM ${session} s
    CROSS JOIN LATERAL (
      WITH RECURSIVE back (seq, upto) AS (
        (SELECT seq, CASE WHEN seq + lines > least($4::bigint, s.next) THEN 0::bigint ELSE bytes::bigint END
          FROM (${before("least($4::bigint, s.next)")}) newest)
        UNION ALL
        SELECT r.seq, back.upto + r.bytes FROM back CROSS JOIN LATERAL (${before("back.seq")}) r
          WHERE back.upto < $3::bigint)
      SELECT min(seq) AS first, max(seq) AS last, min(upto) = 0 AS straddles, max(upto) AS full FROM back) w
    LEFT JOIN LATERAL (${rowsSql(tables, "s.log", "w.first", "least($4::bigint, s.next)", body)}) p ON true
    WHERE s.id = $1 AND ($2::text IS NULL OR s.log = $2)`,
  )
}

/** `from`: the line that the page must have. */
function pageOf(found: readonly PageRow[], log: string, from: Seq | undefined): Page {
  // Sorted by the server, each body would be copied once more.
  const rows = found
    .map(({ seq, lines, size, body }) => ({
      seq: Number(seq),
      lines: Number(lines),
      size: Number(size),
      body: typeof body === "string" ? body.slice(1) : body,
    }))
    .sort((a, b) => a.seq - b.seq)
  const [first, last] = [rows[0], rows.at(-1)]
  const end = last === undefined ? 0 : last.seq + last.lines
  if (first === undefined || (from !== undefined && (first.seq > from || end <= from)))
    throw missingLineError(from, log)
  return { rows, end }
}

function deletedLogError(): StorageError {
  return new StorageError("conflict", "The log was deleted or replaced while it was read; read it again.")
}
