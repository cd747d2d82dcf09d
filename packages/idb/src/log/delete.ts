/** Deletes a session with everything that belongs to it, and the logs of replaces that never finished. */
import type { Deleted } from "@sessions/core/storage"
import { type Describe, is, number, string, type } from "superstruct"
import { type HeadRow, rowRange, type WriteTransaction } from "../database/schema.ts"
import { unawaited } from "../database/transaction.ts"

/** A replace that has not finished after this time was interrupted. */
const ABANDONED_MS = 24 * 3_600_000

/** Deletes the head, the rows, the documents and the staged logs of a session within one transaction. */
export async function deleteSession(tx: WriteTransaction, session: string): Promise<Deleted> {
  // Not checked: a damaged session must be deletable.
  const row: Partial<Record<keyof HeadRow, unknown>> | undefined = await tx.objectStore("heads").get(session)
  unawaited(tx.objectStore("heads").delete(session))
  if (typeof row?.log === "string") unawaited(tx.objectStore("log").delete(rowRange(row.log)))
  // "0" follows "/": the range holds every key that begins with the session's folder.
  unawaited(
    tx.objectStore("docs").delete(IDBKeyRange.bound(`sessions/${session}/`, `sessions/${session}0`, false, true)),
  )
  await deleteStaged(tx, session)
  return { bytes: typeof row?.bytes === "number" ? row.bytes : 0, parts: row === undefined ? 0 : 1, purged: true }
}

/** Drops the staged logs of the session, and those of any session that were abandoned. */
async function deleteStaged(tx: WriteTransaction, ofSession: string): Promise<void> {
  const store = tx.objectStore("staged")
  const [logs, rows] = await Promise.all([store.getAllKeys(), store.getAll()])
  for (const [index, log] of logs.entries()) {
    const row: unknown = rows[index]
    // A damaged row stays as it is: it names no log that is certainly unused.
    if (is(row, STAGED) && (row.session === ofSession || row.at < Date.now() - ABANDONED_MS)) dropStaged(tx, log)
  }
}

export function dropStaged(tx: WriteTransaction, log: string): void {
  unawaited(tx.objectStore("staged").delete(log))
  unawaited(tx.objectStore("log").delete(rowRange(log)))
}

const STAGED: Describe<{ session: string; at: number }> = type({ session: string(), at: number() })
