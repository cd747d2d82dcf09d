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
import { rowRange, type WriteTransaction } from "../database/schema.ts"
import {
  type DatabaseContext,
  readTransaction,
  unawaited,
  writeIdempotent,
  writeTransaction,
} from "../database/transaction.ts"
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
  const stage = createStage(context, session, log)
  await readTransaction(context, ["heads"], async (tx) => {
    const row = await getHead(tx, session)
    checkExpect(row, expect)
  })
  try {
    for await (const { lines } of chunks) await stage.add(lines)
    const end = await stage.finish()
    checkSignal(signal)
    return await activate(context, session, { log, expect, end })
  } catch (error) {
    // If this fails, the next delete removes the rows.
    await writeTransaction({ ...context, durability: "relaxed" }, ["log", "staged"], async (tx) =>
      dropStaged(tx, log),
    ).catch(() => undefined)
    throw error
  }
}

interface Stage {
  add(lines: readonly string[]): Promise<void>
  finish(): Promise<LogEnd>
}

function createStage(context: DatabaseContext, session: string, log: string): Stage {
  let written: LogEnd = { next: 0, bytes: 0 }
  let lines: string[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    const rows = toRows(log, written, lines)
    await writeTransaction(context, ["log", "staged"], async (tx) => {
      if (written.next === 0) unawaited(tx.objectStore("staged").put({ session, at: Date.now() }, log))
      else await checkStaged(tx, session, log)
      for (const { key, row } of rows) unawaited(tx.objectStore("log").put(row, key))
    })
    written = endAfter(rows, lines.length, written)
    lines = []
    bytes = 0
  }

  return {
    async add(more) {
      for (const line of more) lines.push(line)
      bytes += batchBytes(more)
      if (bytes >= STAGE_BYTES) await flush()
    },
    async finish() {
      if (lines.length > 0) await flush()
      return written
    },
  }
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
  return writeIdempotent(context, ["heads", "log", "staged"], async (tx) => {
    const row = await getHead(tx, session)
    // The connection was lost during the first attempt, but it was committed.
    if (row?.log === log) return { next: end.next, log }
    checkExpect(row, expect)
    await checkStaged(tx, session, log)
    unawaited(tx.objectStore("heads").put({ id: session, log, ...end, updatedAt: nextUpdatedAt(row) }))
    unawaited(tx.objectStore("log").delete(rowRange(expect.log)))
    unawaited(tx.objectStore("staged").delete(log))
    return { next: end.next, log }
  })
}
