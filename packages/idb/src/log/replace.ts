/**
 * Replaces the log of a session. The new log is staged under an identity of its own, in as many transactions as it takes, since no
 * transaction may wait for a slow source. A last transaction makes it the session's log and deletes the old one. A crash before that
 * leaves the old log, and staged rows that a later delete removes.
 */
import {
  batchBytes,
  type CallOptions,
  checkExpect,
  checkSignal,
  type Chunk,
  type Head,
  newLog,
  StorageError,
} from "@sessions/core/storage"
import { unknownOutcomeError } from "../database/errors.ts"
import { type DatabaseContext, rowRange, type WriteTransaction } from "../schema.ts"
import { free, readTransaction, unawaited, writeRepeatably, writeTransaction } from "../database/transaction.ts"
import { dropStaged } from "./delete.ts"
import { getHead, nextUpdatedAt } from "./heads.ts"
import { endAfter, type LogEnd, toRows } from "./rows.ts"

/** How much one transaction stages. Appends to all sessions wait for it. */
const STAGE_BYTES = 1_000_000

export async function replace(
  context: DatabaseContext,
  session: string,
  chunks: AsyncIterable<Chunk>,
  { expect, signal }: CallOptions & { readonly expect: Head },
): Promise<Head> {
  const log = newLog()
  await readTransaction(context, ["heads"], async (tx) => checkExpect(await getHead(tx, session), expect))
  try {
    let end: LogEnd = { next: 0, bytes: 0 }
    for await (const lines of batchesOf(chunks)) end = await stage(context, session, { log, start: end, lines })
    checkSignal(signal)
    return await activate(context, session, { log, expect, end })
  } catch (error) {
    // If this fails, the next delete removes the rows.
    await free({ ...context, durability: "relaxed" }, ["log", "staged"], async (tx) => {
      // If the outcome of the last transaction is unknown, it may have become the log of the session.
      if ((await tx.objectStore("staged").getKey(log)) !== undefined) dropStaged(tx, log)
    }).catch(() => undefined)
    throw error
  }
}

/** The lines of the chunks, {@link STAGE_BYTES} and more together. */
async function* batchesOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<readonly string[], void, undefined> {
  let lines: string[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    for (const line of chunk.lines) lines.push(line)
    bytes += batchBytes(chunk.lines)
    if (bytes < STAGE_BYTES) continue
    yield lines
    lines = []
    bytes = 0
  }
  if (lines.length > 0) yield lines
}

/** Adds lines to a staged log, and returns its end. */
async function stage(
  context: DatabaseContext,
  session: string,
  { log, start, lines }: { log: string; start: LogEnd; lines: readonly string[] },
): Promise<LogEnd> {
  const rows = toRows(log, start, lines)
  await writeTransaction(context, ["log", "staged"], async (tx) => {
    if (start.next === 0) unawaited(tx.objectStore("staged").put({ session, at: Date.now() }, log))
    else await checkStaged(tx, session, log)
    for (const { key, row } of rows) unawaited(tx.objectStore("log").put(row, key))
  })
  return endAfter(rows, lines.length, start)
}

/** Deleting a session drops its staged logs; more rows of such a log would never be removed. */
async function checkStaged(tx: WriteTransaction, session: string, log: string): Promise<void> {
  if ((await tx.objectStore("staged").getKey(log)) !== undefined) return
  throw new StorageError("conflict", `The session ${session} was deleted while its log was being replaced.`, {
    session,
  })
}

/** Makes the staged log the log of the session. */
function activate(
  context: DatabaseContext,
  session: string,
  { log, expect, end }: { log: string; expect: Head; end: LogEnd },
): Promise<Head> {
  return writeRepeatably(context, ["heads", "log", "staged"], async (tx, isRepeat) => {
    const row = await getHead(tx, session)
    if (row?.log === log) return { next: end.next, log }
    if (isRepeat && row?.log !== expect.log) throw unknownOutcomeError()
    checkExpect(row, expect)
    await checkStaged(tx, session, log)
    unawaited(tx.objectStore("heads").put({ id: session, log, ...end, updatedAt: nextUpdatedAt(row) }))
    unawaited(tx.objectStore("log").delete(rowRange(expect.log)))
    unawaited(tx.objectStore("staged").delete(log))
    return { next: end.next, log }
  })
}
