import type { Capabilities, HeadInfo, SessionStorage } from "@sessions/core/storage"
import { batchBytes, checkAppendOptions, checkLines, checkListOptions, checkRange } from "@sessions/core/storage"
import { checkSessionId, MAX_CHUNK_BYTES, StorageError } from "@sessions/core/storage"
import type { Database } from "./database.ts"
import type { Driver } from "./driver.ts"
import { toBytes, toText, within } from "./texts.ts"

type Row = Omit<HeadInfo, "info"> & { key: number; id: string; info: Uint8Array | null; infoNext: number }

const PUT = `INSERT INTO sessions (id, log, next, bytes, updatedAt, info, infoNext) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET next = excluded.next, bytes = bytes + excluded.bytes,
    updatedAt = max(updatedAt, excluded.updatedAt), info = coalesce(excluded.info, info),
    infoNext = coalesce(excluded.infoNext, infoNext) RETURNING key`
/** Rows of one look, so that neither a listing nor a read holds the thread for long. */
const PAGE = 1000

type Logs = Pick<SessionStorage, "append" | "head" | "read" | "list" | "delete">

export function createLogs(db: Database, storage: string, capabilities: Capabilities): Logs {
  const gone = (session: string) =>
    new StorageError("conflict", "The log is not where you think; read it and try again.", { storage, session })
  return {
    append(session, lines, o) {
      const check = () => {
        checkSessionId(session)
        checkAppendOptions(o)
        checkLines(lines, capabilities)
        return lines.map(toBytes)
      }
      return db.write(o, [check], (driver, bytes) => {
        const { next: from, log } = o.expect === 0 ? { next: 0, log: crypto.randomUUID() } : o.expect
        const row = find(driver, session)
        if ((row?.next ?? 0) !== from || (row && row.log !== log)) throw gone(session)
        const next = from + lines.length
        const info = o.info === undefined ? [null, null] : [toBytes(o.info), next]
        const put = driver.prepare(PUT).all(session, log, next, batchBytes(lines), Date.now(), ...info) as [Row]
        const insert = driver.prepare("INSERT INTO lines VALUES (?, ?, ?)")
        bytes.forEach((line, i) => insert.run(put[0].key, from + i, line))
        return { next, log }
      })
    },
    head: (session, o) =>
      db.use(o, [checkSessionId, session], (driver) => {
        const row = find(driver, session)
        return row && toHead(row)
      }),
    async *read(session, range, o) {
      const check = () => (checkSessionId(session), checkRange(range))
      const { row, wanted } = await db.use(o, [check], (driver, wanted) => ({ row: find(driver, session), wanted }))
      const to = Math.min(row?.next ?? 0, wanted.last === undefined ? wanted.to : wanted.before)
      let from = wanted.last === undefined ? wanted.from : Math.max(0, to - wanted.last)
      while (row && from < to) {
        const lines = await db.use(o, [() => from], (driver, from) => page(driver, row.key, from, to))
        if (lines.length === 0) throw gone(session)
        yield { from, lines }
        from += lines.length
      }
    },
    async *list(o = {}) {
      const sql = "SELECT * FROM sessions WHERE id > ? ORDER BY id LIMIT ?"
      let [last, left, size] = [o.after ?? "", o.limit ?? Infinity, PAGE]
      for (; size === PAGE; left -= PAGE) {
        const check = () => (checkListOptions(o, capabilities), [last, Math.min(left, PAGE)])
        const rows = await db.use(o, [check], (driver, values) => driver.prepare(sql).all(...values) as Row[])
        for (const row of rows) yield { id: row.id, ...toHead(row) }
        last = rows.at(-1)?.id ?? last
        size = rows.length
      }
    },
    delete: (session, o) =>
      db.write(o, [checkSessionId, session], (driver) => {
        const row = find(driver, session)
        driver.prepare("DELETE FROM lines WHERE key = ?").run(row?.key ?? null)
        driver.prepare("DELETE FROM sessions WHERE id = ?").run(session)
        driver.prepare("DELETE FROM docs WHERE key BETWEEN ? AND ?").run(...within(`sessions/${session}/`))
        return { bytes: row?.bytes ?? 0, parts: row ? 1 : 0 }
      }),
  }
}

function find(driver: Driver, id: string): Row | undefined {
  return driver.prepare("SELECT * FROM sessions WHERE id = ?").all(id)[0] as Row | undefined
}

function toHead({ next, log, bytes, updatedAt, info, infoNext }: Row): HeadInfo {
  return { next, log, bytes, updatedAt, ...(info && { info: { text: toText(info, "info"), next: infoNext } }) }
}

/** The lines of one chunk. None where the log is gone: a key is one log's for ever, and its lines go all at once. */
function page(driver: Driver, key: number, from: number, to: number): string[] {
  const where = "FROM lines WHERE key = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?"
  const sizes = driver.prepare(`SELECT length(line) + 1 AS size ${where}`).all(key, from, to, PAGE) as {
    size: number
  }[]
  let [count, bytes] = [0, 0]
  for (const { size } of sizes) if ((bytes += size) <= MAX_CHUNK_BYTES || count === 0) count++
  const rows = driver.prepare(`SELECT line ${where}`).all(key, from, to, count) as { line: Uint8Array }[]
  return rows.map(({ line }, i) => toText(line, `line ${from + i}`))
}
