/** The logs of the storage: one row per session with its head, one row per line. */
import {
  fromUtf8,
  headAfter,
  type HeadInfo,
  listPages,
  readPages,
  type StorageAdapter,
  takeChunk,
  toListRow,
  toUtf8,
  windowStart,
} from "@sessions/core/storage"
import type { Database } from "./database.ts"
import { keyRange } from "./docs.ts"
import type { Driver } from "./driver.ts"

type Row = { readonly id: string; readonly head: string }
const toHead = (json: string): HeadInfo => JSON.parse(json) as HeadInfo

const LIST = "SELECT id, head FROM sessions WHERE id > ? ORDER BY id LIMIT ?"
const READ = "SELECT seq, line FROM lines WHERE log = ? AND seq >= ? AND seq < ? ORDER BY seq"
const CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"

type Logs = Pick<StorageAdapter, "append" | "head" | "read" | "list" | "delete" | "sweep">

export function createLogs(db: Database): Logs {
  const head = (session: string) => db.read((driver) => headOf(driver, session))
  return {
    head,

    append: (session, lines, o) =>
      db.write((driver) => {
        const after = headAfter(headOf(driver, session), lines, o)
        driver.prepare("INSERT OR REPLACE INTO sessions VALUES (?, ?)").run(session, JSON.stringify(after))
        const insert = driver.prepare("INSERT INTO lines VALUES (?, ?, ?)")
        for (const [i, line] of lines.entries()) insert.run(after.log, after.next - lines.length + i, toUtf8(line))
        return { next: after.next, log: after.log }
      }),

    // A log is deleted with all its lines at once, and its name is never used again.
    read: readPages(
      head,
      (_, log, from, to) => db.read((driver) => takeChunk(linesOf(driver, READ, log, from, to))),
      (_, log, to, max) => db.read((driver) => windowStart(linesOf(driver, `${READ} DESC`, log, 0, to), to, max)),
    ),

    list: listPages(async (after, limit) => {
      const rows = await db.read((driver) => driver.prepare<Row>(LIST).all(after, limit))
      return rows.map(({ id, head }) => toListRow(id, () => toHead(head)))
    }),

    async delete(session) {
      const deleted = await db.write((driver) => {
        const head = headOf(driver, session)
        driver.prepare("DELETE FROM lines WHERE log = ?").run(head?.log ?? null)
        driver.prepare("DELETE FROM sessions WHERE id = ?").run(session)
        driver.prepare("DELETE FROM docs WHERE key BETWEEN ? AND ?").run(...keyRange(`sessions/${session}/`))
        return { bytes: head?.bytes ?? 0, parts: head ? 1 : 0 }
      })
      return { ...deleted, purged: await emptyWal(db) }
    },

    sweep: async ({ dryRun }) => ({ removed: 0, bytes: 0, left: dryRun === true || (await emptyWal(db)) ? 0 : 1 }),
  }
}

/** Removes from the WAL what was deleted, also blobs. False: it is busy, because a reader needs the old pages. */
async function emptyWal(db: Database): Promise<boolean> {
  const [row] = await db.read((driver) => driver.prepare<{ busy: number }>(CHECKPOINT).all())
  return row?.busy === 0
}

function headOf(driver: Driver, session: string): HeadInfo | undefined {
  const [row] = driver.prepare<Row>("SELECT id, head FROM sessions WHERE id = ?").all(session)
  return row && toHead(row.head)
}

function* linesOf(driver: Driver, sql: string, log: string, from: number, to: number): Iterable<string> {
  const rows = driver.prepare<{ seq: number; line: Uint8Array }>(sql)
  for (const { seq, line } of rows.iterate(log, from, to)) yield fromUtf8(line, `line ${seq} of ${log}`)
  // Deno's `iterate` ends as behind the last row where SQLite reports an error, which `all` throws.
  if ("Deno" in globalThis) rows.all(log, from, to)
}
