/** PostgreSQL by hand: the statements of an append, a read and a list over `pg`, with the tables of `@sessions/postgres`. */
import type { ClientBase } from "pg"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** An UPDATE and an INSERT in one round trip. */
const APPEND = `WITH head AS (
    UPDATE sessions.session SET next = next + $3::int, bytes = bytes + $4::int, updated_at = $5::bigint
    WHERE id = $1 AND next = $2::bigint RETURNING log)
  INSERT INTO sessions.batch (log, seq, lines, bytes, append, body)
  SELECT log, $2::bigint, $3::int, $4::int, '', $6::bytea FROM head`

/** Appends to the session: one statement for every `lines` lines. */
export async function appendAll(
  db: ClientBase,
  session: string,
  count: number,
  lines: number,
  lineOf: (seq: number) => string,
): Promise<void> {
  const { rows } = await db.query<{ next: string }>("SELECT next FROM sessions.session WHERE id = $1", [session])
  let next = Number(rows[0]?.next)
  for (let i = 0; i < count; i += lines) {
    const body = encoder.encode(Array.from({ length: lines }, (_, k) => lineOf(next + k)).join(""))
    await db.query(APPEND, [session, next, lines, body.length, Date.now(), body])
    next += lines
  }
}

/** Rows of about 24 KB, so a page has about a megabyte. A single SELECT would keep all of the log in memory. */
const PAGE_ROWS = 40

/** Reads the same rows, as they are stored or as texts, and parses each line. Returns their number. */
export async function parseAll(db: ClientBase, session: string, as: "bytes" | "text"): Promise<number> {
  const body = as === "bytes" ? "body" : "convert_from(body, 'UTF8') AS body"
  const page = `SELECT seq, lines, ${body} FROM sessions.batch
    WHERE log = (SELECT log FROM sessions.session WHERE id = $1) AND seq >= $2::bigint ORDER BY seq LIMIT ${PAGE_ROWS}`
  let next = 0
  for (;;) {
    const { rows } = await db.query<{ seq: string; lines: number; body: Uint8Array | string }>(page, [session, next])
    if (rows.length === 0) return next
    for (const { seq, lines, body } of rows) {
      const text = typeof body === "string" ? body : decoder.decode(body)
      for (const line of text.slice(0, -1).split("\n")) JSON.parse(line)
      next = Number(seq) + lines
    }
  }
}

/** The rows of the newest sessions. Returns their number. */
export async function listNewest(db: ClientBase, limit: number): Promise<number> {
  const columns = "id, log, next, bytes, updated_at, info, info_next"
  const newest = `SELECT ${columns} FROM sessions.session ORDER BY minute DESC, updated_at DESC, id DESC LIMIT $1`
  return (await db.query(newest, [limit])).rows.length
}

/** Bytes on the disk of the tables with lines and heads, indexes and bodies out of line included, after VACUUM. */
export async function bytesOnDisk(db: ClientBase): Promise<number> {
  await db.query("VACUUM sessions.session, sessions.batch")
  const sizes = "pg_total_relation_size('sessions.session') + pg_total_relation_size('sessions.batch') AS bytes"
  return Number((await db.query<{ bytes: string }>(`SELECT ${sizes}`)).rows[0]?.bytes)
}
