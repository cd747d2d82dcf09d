/** Deletes a session with everything that belongs to it, and the logs of replaces that never finished. */
import { checkExpect, type Deleted, type Head } from "@sessions/core/storage"
import { type Describe, is, number, string, type } from "superstruct"
import { type DatabaseContext, type HeadRow, rowRange, type WriteTransaction } from "../schema.ts"
import { free, unawaited } from "../database/transaction.ts"

/** A replace that has not finished after this time was interrupted. */
const ABANDONED_MS = 24 * 3_600_000

/**
 * Deletes the head, the rows, the documents and the staged logs of a session within one transaction. `conflict` if the log does not end at
 * `expect`.
 */
export function deleteSession(context: DatabaseContext, session: string, expect: Head | undefined): Promise<Deleted> {
  let first: { readonly log: unknown; readonly deleted: Deleted } | undefined
  return free(context, ["heads", "log", "docs", "staged"], async (tx) => {
    // Not checked: a damaged session must be deletable.
    const row: Partial<Record<keyof HeadRow, unknown>> | undefined = await tx.objectStore("heads").get(session)
    // What the first attempt found is gone. A repeat must not delete a session that was created since.
    if (first !== undefined && row?.log !== first.log) return first.deleted
    if (expect) checkExpect(row as Head | undefined, expect)
    const bytes = typeof row?.bytes === "number" ? row.bytes : 0
    first ??= { log: row?.log, deleted: { bytes, parts: row === undefined ? 0 : 1, purged: true } }
    unawaited(tx.objectStore("heads").delete(session))
    if (typeof row?.log === "string") unawaited(tx.objectStore("log").delete(rowRange(row.log)))
    // "0" follows "/": the range holds every key that begins with the session's folder.
    unawaited(
      tx.objectStore("docs").delete(IDBKeyRange.bound(`sessions/${session}/`, `sessions/${session}0`, false, true)),
    )
    await deleteStaged(tx, session)
    return first.deleted
  })
}

/** Drops the staged logs of the session, and those of any session that were abandoned; returns how many. `dryRun`: drops none. */
export async function deleteStaged(tx: WriteTransaction, ofSession?: string, dryRun?: boolean): Promise<number> {
  let found = 0
  const store = tx.objectStore("staged")
  const [logs, rows] = await Promise.all([store.getAllKeys(), store.getAll()])
  for (const [index, log] of logs.entries()) {
    const row: unknown = rows[index]
    // A damaged row stays as it is: it names no log that is certainly unused.
    if (!is(row, STAGED) || (row.session !== ofSession && row.at >= Date.now() - ABANDONED_MS)) continue
    found++
    if (!dryRun) dropStaged(tx, log)
  }
  return found
}

export function dropStaged(tx: WriteTransaction, log: string): void {
  unawaited(tx.objectStore("staged").delete(log))
  unawaited(tx.objectStore("log").delete(rowRange(log)))
}

const STAGED: Describe<{ session: string; at: number }> = type({ session: string(), at: number() })
