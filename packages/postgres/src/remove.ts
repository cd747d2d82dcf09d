/** Deletes a session with its lines and documents. */
import { checkExpect, type Deleted, type Head, type StorageAdapter } from "@sessions/core/storage"
import type { Connection, Database } from "./database.ts"
import { settle, UnknownOutcome } from "./errors.ts"
import { COLUMNS, headOf, type SessionRow } from "./heads.ts"
import type { Tables } from "./schema.ts"

/**
 * One transaction: a single statement would not see, and so leave behind, the lines of an append that was committed while it waited
 * for the row of the session.
 */
export function createDelete(db: Database, { session, batch, doc }: Tables): StorageAdapter["delete"] {
  const lock = `SELECT ${COLUMNS} FROM ${session} WHERE id = $1 FOR UPDATE`
  const removeSession = `DELETE FROM ${session} WHERE id = $1`
  const removeLines = `DELETE FROM ${batch} WHERE log = $1`
  const removeDocs = `DELETE FROM ${doc} WHERE session = $1`

  async function remove(
    tx: Connection,
    id: string,
    log: string | undefined,
    expect?: Head,
  ): Promise<SessionRow | undefined> {
    const [found] = await tx.query<SessionRow>(lock, [id])
    // A repeat must not remove a session that was created since.
    if (log !== undefined && found?.log !== log) return undefined
    if (expect !== undefined) checkExpect(found && headOf(found), expect)
    if (found !== undefined) {
      await tx.query(removeLines, [found.log])
      await tx.query(removeSession, [id])
    }
    await tx.query(removeDocs, [id])
    return found
  }

  return async (id, { expect }): Promise<Deleted> => {
    let seen: SessionRow | undefined
    const attempt = (log?: string): Promise<SessionRow | undefined> =>
      db.transaction(async (tx) => {
        const found = await remove(tx, id, log, expect)
        seen ??= found
        return found
      })
    await attempt().catch(async (error: unknown) => {
      if (!(error instanceof UnknownOutcome) || seen === undefined) throw error
      // The repeat waits for the transaction whose answer was lost, and then finds the session or does not.
      const { log } = seen
      await settle(error, () => attempt(log))
      await settle(error, () => db.awaitStandby())
    })
    return { bytes: Number(seen?.bytes ?? 0), parts: seen === undefined ? 0 : 1, purged: true }
  }
}
