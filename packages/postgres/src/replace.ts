/** Replaces a whole log by another. */
import {
  checkExpect,
  type Chunk,
  type Head,
  MAX_CHUNK_BYTES,
  newLog,
  type StorageAdapter,
  StorageError,
  batchBytes,
} from "@sessions/core/storage"
import { type Batch, insertSql, insertValues, toBatch } from "./append.ts"
import type { Database } from "./database.ts"
import { settle, UnknownOutcome } from "./errors.ts"
import { NOW, type ReadHead } from "./heads.ts"
import type { Tables } from "./schema.ts"

/** Bytes of one INSERT. */
const STEP_BYTES = 4 * MAX_CHUNK_BYTES

/**
 * The new log is read from its source first and then written in one transaction. The source may read from this storage, and would wait
 * for ever for a connection that the transaction holds; and a slow source would keep the transaction, and old rows, for long.
 */
export function createReplace(db: Database, tables: Tables, head: ReadHead): NonNullable<StorageAdapter["replace"]> {
  const { session, batch } = tables
  const one = insertSql(tables, "(SELECT $4::text, $5::bigint) AS head (log, seq)", false)
  const several = insertSql(tables, "(SELECT $6::text, $7::bigint) AS head (log, seq)", true)
  const swap = `UPDATE ${session} SET log = $2, next = $3::bigint, bytes = $4::bigint,
      updated_at = greatest(updated_at, ${NOW}), info = NULL, info_next = NULL, mark = NULL WHERE id = $1`
  const removeLines = `DELETE FROM ${batch} WHERE log = $1`
  // Waits for a transaction that has changed the row.
  const locked = `SELECT log FROM ${session} WHERE id = $1 FOR UPDATE`

  return async (id, source, { expect }) => {
    checkExpect(await head(id), expect)
    const steps = await collect(source)
    const log = newLog()
    const next = steps.reduce((sum, step) => sum + step.lines, 0)
    const bytes = steps.reduce((sum, step) => sum + step.body.length, 0)
    let sent = false
    const write = db.transaction(async (tx) => {
      await tx.query(locked, [id])
      checkExpect(await head(id, tx), expect)
      // While the session still has this log: row level security may tell by it whose lines they are.
      await tx.query(removeLines, [expect.log])
      await tx.query(swap, [id, log, next, bytes])
      let seq = 0
      for (const step of steps) {
        await tx.query(step.rows.length === 1 ? one : several, [...insertValues(log, step), log, seq])
        seq += step.lines
      }
      sent = true
    })
    await write.catch(async (error: unknown) => {
      if (!(error instanceof UnknownOutcome) || !sent) throw error
      const [found] = await settle(error, () => db.query<{ readonly log: string }>(locked, [id]))
      if (found?.log === log) return
      if (found?.log === expect.log) throw notReplacedError(error)
      throw error
    })
    const after: Head = { next, log }
    return after
  }
}

/** The lines of the new log, in batches of about {@link STEP_BYTES}. */
async function collect(source: AsyncIterable<Chunk>): Promise<Batch[]> {
  const steps: Batch[] = []
  let lines: string[] = []
  let bytes = 0
  const flush = (): void => {
    if (lines.length > 0) steps.push(toBatch(lines))
    ;[lines, bytes] = [[], 0]
  }
  for await (const chunk of source) {
    const added = batchBytes(chunk.lines)
    if (bytes + added > STEP_BYTES) flush()
    lines.push(...chunk.lines)
    bytes += added
  }
  flush()
  return steps
}

function notReplacedError(cause: UnknownOutcome): StorageError {
  return new StorageError(
    "unavailable",
    `The connection was lost (${cause.message}) and nothing was replaced; try again.`,
    { cause },
  )
}
