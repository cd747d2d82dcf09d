/** Replaces a log: writes the new one beside it, as a log that belongs to no session, then exchanges the two in one transaction. */
import {
  type Chunk,
  checkExpect,
  MAX_CHUNK_BYTES,
  newLog,
  type StorageAdapter,
  StorageError,
} from "@sessions/core/storage"
import { insertRows } from "./append.ts"
import type { Connection } from "./driver/connection.ts"
import type { Database } from "./database.ts"
import { headOf } from "./heads.ts"
import { type Row, toRows } from "./lines.ts"
import { settle } from "./order.ts"
import { removeLogs } from "./remove.ts"

const STAGE = "INSERT INTO session (log, next, bytes, updated_at) VALUES (?, 0, 0, ?) RETURNING n"
const DETACH = "UPDATE session SET id = NULL, info = NULL, info_next = NULL WHERE id = ?"
const ATTACH = "UPDATE session SET id = ?, next = ?, bytes = ?, updated_at = ? WHERE n = ?"
/** Marks a staged log as one that may be removed. */
const ABANDON = "UPDATE session SET next = 1 WHERE n = ? AND id IS NULL"

/** Bytes that one transaction writes, so that other writers need not wait for long. */
const WRITTEN_BYTES = 16 * MAX_CHUNK_BYTES

export function createReplace(
  db: Database,
  changed: (session: string) => void,
): NonNullable<StorageAdapter["replace"]> {
  return async (session, chunks, { expect, signal }) => {
    const log = newLog()
    const n = await db.write(
      (tx) => {
        checkExpect(headOf(tx, session), expect)
        return (tx.query<{ n: number }>(STAGE).get(log, Date.now()) as { n: number }).n
      },
      { signal, isStored: () => false },
    )
    try {
      const { next, bytes } = await stage(db, n, log, chunks, signal)
      await db.write(
        (tx) => {
          const stored = headOf(tx, session)
          checkExpect(stored, expect)
          tx.run(DETACH, session)
          const updatedAt = Math.max(stored?.updatedAt ?? 0, Date.now())
          if (tx.run(ATTACH, session, next, bytes, updatedAt, n) === 0) throw tookTooLongError()
          settle(tx, n, updatedAt)
        },
        {
          signal,
          isStored(tx) {
            const current = headOf(tx, session)
            return current?.log === log || (current?.log === expect.log ? false : undefined)
          },
        },
      )
      changed(session)
      return { next, log }
    } catch (error) {
      if ((error as { code?: unknown }).code !== "indeterminate") await abandon(db, n)
      throw error
    } finally {
      // What stays is removed by the next delete.
      await removeLogs(db).catch(() => undefined)
    }
  }
}

/** Writes the lines of the new log. */
async function stage(
  db: Database,
  n: number,
  log: string,
  chunks: AsyncIterable<Chunk>,
  signal: AbortSignal | undefined,
): Promise<{ next: number; bytes: number }> {
  let rows: Row[] = []
  let [next, bytes, pending] = [0, 0, 0]
  const write = async (): Promise<void> => {
    const from = next
    const written = rows
    next = await db.write((tx: Connection) => insertRows(tx, n, from, log, written), {
      signal,
      isStored: () => false,
    })
    ;[rows, pending] = [[], 0]
  }
  for await (const { lines } of chunks) {
    for (const row of toRows(lines)) {
      rows.push(row)
      bytes += row.body.length
      pending += row.body.length
      if (pending >= WRITTEN_BYTES) await write()
    }
  }
  await write()
  return { next, bytes }
}

async function abandon(db: Database, n: number): Promise<void> {
  await db.write((tx) => tx.run(ABANDON, n), { isStored: () => true }).catch(() => undefined)
}

function tookTooLongError(): StorageError {
  return new StorageError("unavailable", "The replace took longer than a day, and its lines were removed: repeat it.")
}
