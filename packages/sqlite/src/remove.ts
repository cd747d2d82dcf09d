/** Removes sessions, and the lines of logs that belong to no session. */
import { MAX_CHUNK_BYTES, type StorageAdapter } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import type { Database } from "./database.ts"
import { keysOf } from "./documents.ts"

const DETACH = "UPDATE session SET id = NULL, info = NULL, info_next = NULL WHERE id = ? RETURNING bytes"
const DOCS = "DELETE FROM doc WHERE key >= ? AND key < ?"

/**
 * The session and its documents disappear in one transaction. The lines are removed in several, so that a large log blocks neither this
 * process nor other writers; `secure_delete` overwrites them.
 */
export function createDelete(db: Database, changed: (session: string) => void): StorageAdapter["delete"] {
  return async (session, { signal }) => {
    const bytes = await db.write(
      (tx) => {
        tx.run(DOCS, ...keysOf(`sessions/${session}/`))
        return tx.query<{ bytes: number }>(DETACH).get(session)?.bytes
      },
      { signal, isStored: (tx) => !exists(tx, session) },
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

function exists(tx: Connection, session: string): boolean {
  return tx.query("SELECT 1 FROM session WHERE id = ?").get(session) !== undefined
}

/** A replace that runs for longer has certainly been interrupted. */
export const STALE_MS: number = 24 * 60 * 60 * 1000

const UNUSED = "SELECT n FROM session WHERE id IS NULL AND (next > 0 OR updated_at < ?) LIMIT 1"
const SIZES = "SELECT seq, bytes FROM batch WHERE n = ? ORDER BY seq LIMIT 1000"
const LINES = "DELETE FROM batch WHERE n = ? AND seq <= ?"

/** Removes the lines of deleted and replaced logs, and of interrupted replaces. */
export async function removeLogs(db: Database): Promise<void> {
  while (await db.write(removeSome, { isStored: () => false })) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** What one transaction removes: it takes some milliseconds, and the WAL stays small. */
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
