import type { Deleted } from "@sessions/core/storage"
import { type HeadRow, rowsOf, type Writing } from "../database/schema.ts"
import { sent } from "../database/transaction.ts"

/** A replace that has not ended after so long was broken off. */
const ABANDONED_MS = 24 * 3_600_000

/** Head, rows, documents and whatever a replace has laid by: all in the one transaction. */
export async function removeSession(tx: Writing, session: string): Promise<Deleted> {
  // As it is: a damaged session can be deleted, or its person would never be rid of it.
  const row: Partial<Record<keyof HeadRow, unknown>> | undefined = await tx.objectStore("heads").get(session)
  sent(tx.objectStore("heads").delete(session))
  if (typeof row?.log === "string") sent(tx.objectStore("log").delete(rowsOf(row.log)))
  // "0" follows "/": all keys that begin with the session's folder.
  sent(tx.objectStore("docs").delete(IDBKeyRange.bound(`sessions/${session}/`, `sessions/${session}0`, false, true)))
  await sweepStaged(tx, (of) => of === session)
  return { bytes: typeof row?.bytes === "number" ? row.bytes : 0, parts: row === undefined ? 0 : 1 }
}

/** Logs that a replace was building: those of some session, and those that nobody will finish. */
async function sweepStaged(tx: Writing, isOf: (session: string) => boolean): Promise<void> {
  const store = tx.objectStore("staged")
  const [logs, rows] = await Promise.all([store.getAllKeys(), store.getAll()])
  for (const [index, log] of logs.entries()) {
    const { session, at } = rows[index] ?? { session: "", at: 0 }
    if (isOf(session) || at < Date.now() - ABANDONED_MS) dropStaged(tx, log)
  }
}

export function dropStaged(tx: Writing, log: string): void {
  sent(tx.objectStore("staged").delete(log))
  sent(tx.objectStore("log").delete(rowsOf(log)))
}
