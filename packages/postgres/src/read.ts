/** Reads ranges and windows of a log, a page of rows at a time. No cursor or transaction is held between two pages. */
import {
  afterDamage,
  type CheckedRange,
  type Chunk,
  fromUtf8,
  MAX_CHUNK_BYTES,
  rangeIn,
  type Seq,
  type StorageAdapter,
  StorageError,
  type WindowStep,
} from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import type { Tables } from "./schema.ts"

/** Bytes and rows of a page. A read of one page shows one state of the log; small rows are counted, so that sizes are summed up quickly. */
const PAGE_BYTES = 1_000_000
const PAGE_ROWS = 1024

const LF = 10

interface PageRow {
  readonly log: string
  readonly next: string | number | bigint
  /** Seq of the first row's first line; null if there are no rows. */
  readonly seq: string | number | bigint | null
  readonly lines: string | number | bigint | null
  readonly body: Uint8Array | null
  /** Of a window: the seq of its last row, whether that goes on behind the window, and the bytes of all rows that do not. */
  readonly last?: string | number | bigint | null
  readonly straddles?: boolean | null
  readonly full?: string | number | bigint | null
}

/** Whole rows, as bytes. */
interface Page {
  readonly from: Seq
  readonly lines: number
  readonly body: Uint8Array
}

export function createRead(db: Connection, tables: Tables): StorageAdapter["read"] {
  const range = rangeSql(tables)
  const window = windowSql(tables)
  const exists = `SELECT 1 FROM ${tables.session} WHERE id = $1 AND log = $2`

  async function pageFrom(session: string, log: string, from: Seq, to: Seq): Promise<Page> {
    const [row] = await db.query<PageRow>(range, [session, log, from, to])
    if (row === undefined) throw gone()
    return pageOf(row, log, from)
  }

  async function* pages(session: string, log: string, first: Page, to: Seq): AsyncGenerator<Page, void, undefined> {
    let next: Promise<Page> | undefined
    try {
      for (let page = first; ; ) {
        const end = page.from + page.lines
        // The next page is on its way while the reader handles this one.
        next = end < to ? pageFrom(session, log, end, to) : undefined
        next?.catch(() => undefined)
        yield page
        if (next === undefined) {
          // The reader may have taken long for pages that were loaded before.
          if (page !== first && (await db.query(exists, [session, log])).length === 0) throw gone()
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
    const [row] =
      maxBytes === undefined
        ? await db.query<PageRow>(range, [session, o.log ?? null, o.from, o.to])
        : await db.query<PageRow>(window, [session, o.log ?? null, maxBytes, o.to])
    const { from, to } = rangeIn(o, row && { log: row.log, next: Number(row.next) })
    if (row === undefined || from >= to) return
    const { log } = row
    const page = pageOf(row, log, maxBytes === undefined ? from : undefined)
    if (maxBytes === undefined) {
      for await (const { before, damage } of chunks(pages(session, log, page, to), { log, from, to, skip: 0 })) {
        if (before.lines.length > 0) yield before
        if (damage !== undefined) throw damage
      }
      return
    }
    let bytes = Number(row.full)
    if (page.from + page.lines >= to) bytes = bytesBefore(page, to)
    else if (row.straddles === true) bytes += bytesBefore(await pageFrom(session, log, Number(row.last), to), to)
    const steps = chunks(pages(session, log, page, to), { log, from, to, skip: bytes - maxBytes })
    for await (const { chunk } of afterDamage(steps, maxBytes)) yield chunk
  }

  return (session, o) => read(session, o)
}

/** The rows of a page: from that with the line `first`, those before the seq $4, at most `PAGE_BYTES` unless one row is larger. */
function rowsSql({ batch }: Tables, first: string): string {
  return `SELECT min(seq) AS seq, sum(lines) AS lines, string_agg(body, ''::bytea ORDER BY seq) AS body FROM (
      SELECT seq, lines, bytes, body, sum(bytes) OVER (ORDER BY seq) AS upto FROM (
        SELECT seq, lines, bytes, body FROM ${batch}
        WHERE log = s.log AND seq >= ${first} AND seq < least($4::bigint, s.next) ORDER BY seq LIMIT ${PAGE_ROWS}) rows
    ) sizes WHERE upto - bytes < ${PAGE_BYTES}`
}

/** $1 id, $2 log or null, $3 from, $4 to. */
function rangeSql(tables: Tables): string {
  const { session, batch } = tables
  const first = `coalesce((SELECT max(seq) FROM ${batch} WHERE log = s.log AND seq <= $3::bigint), 0)`
  return `SELECT s.log, s.next, p.* FROM ${session} s CROSS JOIN LATERAL (${rowsSql(tables, first)}) p
    WHERE s.id = $1 AND ($2::text IS NULL OR s.log = $2)`
}

/** $1 id, $2 log or null, $3 bytes, $4 to. Steps back row by row until they have the bytes; a row that goes on behind $4 counts as none. */
function windowSql(tables: Tables): string {
  const { session, batch } = tables
  const before = (seq: string): string =>
    `SELECT seq, lines, bytes FROM ${batch} WHERE log = s.log AND seq < ${seq} ORDER BY seq DESC LIMIT 1`
  return `SELECT s.log, s.next, w.last, w.straddles, w.full, p.* FROM ${session} s
    CROSS JOIN LATERAL (
      WITH RECURSIVE back (seq, upto) AS (
        (SELECT seq, CASE WHEN seq + lines > least($4::bigint, s.next) THEN 0::bigint ELSE bytes::bigint END
          FROM (${before("least($4::bigint, s.next)")}) newest)
        UNION ALL
        SELECT r.seq, back.upto + r.bytes FROM back CROSS JOIN LATERAL (${before("back.seq")}) r
          WHERE back.upto < $3::bigint)
      SELECT min(seq) AS first, max(seq) AS last, min(upto) = 0 AS straddles, max(upto) AS full FROM back) w
    CROSS JOIN LATERAL (${rowsSql(tables, "w.first")}) p
    WHERE s.id = $1 AND ($2::text IS NULL OR s.log = $2)`
}

/** `from`: the line that the page must have. */
function pageOf({ seq, lines, body }: PageRow, log: string, from: Seq | undefined): Page {
  // A Buffer has an indexOf of its own, which is slow in Deno.
  const bytes = body === null ? new Uint8Array() : new Uint8Array(body.buffer, body.byteOffset, body.length)
  const page = { from: Number(seq), lines: Number(lines), body: bytes }
  if (seq === null || (from !== undefined && (page.from > from || page.from + page.lines <= from)))
    throw corrupt(`Line ${from ?? ""} of log ${log} is missing`)
  return page
}

/** The bytes of the lines before a seq. */
function bytesBefore({ from, lines, body }: Page, to: Seq): number {
  if (from + lines <= to) return body.length
  let end = 0
  for (let seq = from; seq < to; seq++) end = body.indexOf(LF, end) + 1
  return end
}

interface Cut {
  readonly log: string
  readonly from: Seq
  readonly to: Seq
  /** Bytes to leave out at the beginning, in whole lines and never the last line. */
  readonly skip: number
}

/** Decodes the lines from `from` to `to`, in chunks. */
async function* chunks(pages: AsyncIterable<Page>, cut: Cut): AsyncGenerator<Step, void, undefined> {
  let { skip } = cut
  let expected: Seq | undefined
  for await (const { from, lines, body } of pages) {
    if (expected !== undefined && from !== expected) throw corrupt(`Line ${expected} of log ${cut.log} is missing`)
    expected = from + lines
    let seq = from
    let at = 0
    for (; seq < cut.from || (skip > 0 && seq < Math.min(expected, cut.to - 1)); seq++) {
      const end = body.indexOf(LF, at) + 1
      if (seq >= cut.from) skip -= end - at
      at = end
    }
    let end = body.length
    for (let last = expected; last > cut.to; last--) end = body.lastIndexOf(LF, end - 2) + 1
    while (at < end) {
      const stop = chunkEnd(body, at, end)
      const step = decode(body.subarray(at, stop), seq, cut.log)
      yield step
      seq = step.chunk.from + step.chunk.lines.length
      at = stop
    }
    if (seq !== Math.min(expected, cut.to))
      throw corrupt(`A row of log ${cut.log} before line ${expected} has other lines`)
  }
}

/** The end of the last line that fits into a chunk with those from `at`, or of the first. */
function chunkEnd(body: Uint8Array, at: number, end: number): number {
  if (end - at <= MAX_CHUNK_BYTES) return end
  const fitting = body.lastIndexOf(LF, at + MAX_CHUNK_BYTES - 1)
  const stop = fitting < at ? body.indexOf(LF, at + MAX_CHUNK_BYTES) : fitting
  return stop === -1 ? end : stop + 1
}

interface Step extends WindowStep {
  /** The lines before the first one that is not UTF-8; without damage, those of `chunk`. */
  readonly before: Chunk
}

/** The lines of some bytes. If some are not UTF-8, `chunk` has those after the last such line, and `damage` is the error of the first. */
function decode(bytes: Uint8Array, seq: Seq, log: string): Step {
  const whole = tryDecode(bytes, log)
  if (typeof whole === "string") {
    const chunk = { from: seq, lines: whole.slice(0, -1).split("\n") }
    return { chunk, before: chunk }
  }
  let before: Chunk | undefined
  let damage: StorageError | undefined
  let [from, lines]: [Seq, string[]] = [seq, []]
  for (let at = 0, n = seq; at < bytes.length; n++) {
    const end = bytes.indexOf(LF, at)
    const line = tryDecode(bytes.subarray(at, end), `line ${n} of log ${log}`)
    if (typeof line === "string") lines.push(line)
    else {
      before ??= { from, lines }
      damage ??= line
      ;[from, lines] = [n + 1, []]
    }
    at = end + 1
  }
  const chunk = { from, lines }
  return { chunk, before: before ?? chunk, damage }
}

function tryDecode(bytes: Uint8Array, at: string): string | StorageError {
  try {
    return fromUtf8(bytes, at)
  } catch (error) {
    return error as StorageError
  }
}

function corrupt(what: string): StorageError {
  return new StorageError("corrupt", `${what}; restore the table from a backup.`)
}

function gone(): StorageError {
  return new StorageError("conflict", "The log was deleted or replaced while it was read; read it again.")
}
