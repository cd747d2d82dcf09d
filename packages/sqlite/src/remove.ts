/** Removes sessions, and the lines of logs that belong to no session. */
import { checkExpect, MAX_CHUNK_BYTES, type StorageAdapter } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import type { Database } from "./database.ts"
import { keysOf } from "./documents.ts"
import { headOf } from "./heads.ts"

const DETACH = "UPDATE session SET id = NULL, info = NULL, info_next = NULL WHERE id = ? RETURNING n, bytes"
const NUMBER = "SELECT n FROM session WHERE id = ?"
const DOCS = "DELETE FROM doc WHERE key >= ? AND key < ?"

/**
 * The session and its documents disappear in one transaction. The lines are removed in several, so that a large log blocks neither this
 * process nor other writers; `secure_delete` overwrites them.
 */
export function createDelete(db: Database, changed: (session: string) => void): StorageAdapter["delete"] {
  return async (session, { signal, expect }) => {
    let number: number | undefined
    const bytes = await db.write(
      (tx) => {
        if (expect !== undefined) checkExpect(headOf(tx, session), expect)
        tx.run(DOCS, ...keysOf(`sessions/${session}/`))
        const detached = tx.query<{ n: number; bytes: number }>(DETACH).get(session)
        number = detached?.n
        return detached?.bytes
      },
      {
        signal,
        frees: true,
        isStored(tx) {
          const current = tx.query<{ n: number }>(NUMBER).get(session)?.n
          return current === undefined || (current === number ? false : undefined)
        },
      },
    )
    changed(session)
    const purged = await removeLogs(db).then(
      () => db.purge(),
      // The session is deleted. The next `delete`, of any session, removes the lines.
      () => false,
    )
    return { bytes: bytes ?? 0, parts: bytes === undefined ? 0 : 1, purged }
  }
}

/** A replace that runs for longer has certainly been interrupted. */
export const STALE_MS: number = 24 * 60 * 60 * 1000

/** Of deleted and replaced logs, and of replaces that were interrupted. */
const IS_UNUSED = "session.id IS NULL AND (session.next > 0 OR session.updated_at < ?)"
const UNUSED = `SELECT n FROM session WHERE ${IS_UNUSED} LIMIT 1`
const ALL_UNUSED = `SELECT count(DISTINCT session.n) AS removed, coalesce(sum(batch.bytes), 0) AS bytes
  FROM session LEFT JOIN batch ON batch.n = session.n WHERE ${IS_UNUSED}`
const SIZES = "SELECT seq, bytes FROM batch WHERE n = ? ORDER BY seq LIMIT 1000"
const LINES = "DELETE FROM batch WHERE n = ? AND seq <= ?"

/** Removes the lines of deleted and replaced logs, and of interrupted replaces. */
export async function removeLogs(db: Database): Promise<void> {
  while (await db.write(removeSome, { isStored: () => false, frees: true })) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Removes what a crash left of deletions and replaces, in steps: a sweep that is interrupted is continued by the next. */
export function createSweep(db: Database): NonNullable<StorageAdapter["sweep"]> {
  return async ({ dryRun, signal }) => {
    const found = await db.read(
      (tx) => tx.query<{ removed: number; bytes: number }>(ALL_UNUSED).get(Date.now() - STALE_MS),
      { signal },
    )
    const { removed = 0, bytes = 0 } = found ?? {}
    if (dryRun === true) return { removed, bytes, left: 0 }
    if (removed > 0) await removeLogs(db)
    // While another connection reads an older state, the write-ahead log keeps the bytes, also those of blobs and documents.
    return { removed, bytes, left: (await db.purge()) ? 0 : Math.max(removed, 1) }
  }
}

/** Bytes that one transaction removes: it takes some milliseconds, and the WAL stays small. */
const REMOVED_BYTES = 16 * MAX_CHUNK_BYTES

/** Returns whether there may be more. */
function removeSome(tx: Connection): boolean {
  const log = tx.query<{ n: number }>(UNUSED).get(Date.now() - STALE_MS)
  if (log === undefined) return false
  let last: number | undefined
  let bytes = 0
  for (const row of tx.query<{ seq: number; bytes: number }>(SIZES).all(log.n)) {
    last = row.seq
    bytes += row.bytes
    if (bytes >= REMOVED_BYTES) break
  }
  if (last === undefined) tx.run("DELETE FROM session WHERE n = ?", log.n)
  else tx.run(LINES, log.n, last)
  return true
}
