/** Appends a batch: one transaction compares the head, adds the rows and replaces the head. */
import { unwrap } from "idb"
import { type StorageAppendOptions, checkExpect, type Head, lineMark, newLog } from "@sessions/core/storage"
import { isQuota, unknownOutcomeError } from "../database/errors.ts"
import type { DatabaseContext, HeadRow, WriteTransaction } from "../schema.ts"
import { writeRepeatably } from "../database/transaction.ts"
import { compactRows } from "./compact-rows.ts"
import { getHead, nextUpdatedAt } from "./heads.ts"
import { readLines } from "./pages.ts"
import { endAfter, toRows } from "./rows.ts"

/**
 * If the outcome of the transaction is unknown, a second one looks for the lines, and writes them if they are missing. If the quota is exceeded, the rows are compacted and the append is tried once more.
 */
export async function append(
  context: DatabaseContext,
  session: string,
  lines: readonly string[],
  { expect, info }: StorageAppendOptions,
): Promise<Head> {
  const log = expect === 0 ? newLog() : expect.log
  const attempt = (): Promise<Head> =>
    writeRepeatably(context, ["heads", "log"], async (tx, isRepeat) => {
      const row = await getHead(tx, session)
      if (isRepeat && (await hasLines(tx, row, log, expect, lines))) return headAfter(log, expect, lines)
      if (isRepeat && (row ? row.log !== log : expect !== 0)) throw unknownOutcomeError()
      checkExpect(row, expect)
      return write(tx, row, { session, log, lines, info })
    })

  return attempt().catch(async (error: unknown) => {
    if (!isQuota(error)) throw error
    // If it fails, too, the second attempt reports the quota.
    await compactRows(context, session).catch(() => undefined)
    return attempt()
  })
}

interface Batch {
  readonly session: string
  readonly log: string
  readonly lines: readonly string[]
  readonly info: string | undefined
}

function write(tx: WriteTransaction, row: HeadRow | undefined, { session, log, lines, info }: Batch): Head {
  const start = { next: row?.next ?? 0, bytes: row?.bytes ?? 0 }
  const rows = toRows(log, start, lines)
  const end = endAfter(rows, lines.length, start)
  // Unwrapped: the requests are not awaited (a failure aborts the transaction), and their promises took a tenth of an append.
  const store = unwrap(tx.objectStore("log"))
  for (const { key, row } of rows) store.add(row, key)
  const headInfo = info === undefined ? row?.info : { text: info, next: end.next }
  const head: HeadRow = {
    id: session,
    log,
    ...end,
    updatedAt: nextUpdatedAt(row),
    mark: lineMark(lines.at(-1) as string),
    ...(headInfo !== undefined && { info: headInfo }),
  }
  unwrap(tx.objectStore("heads")).put(head)
  return { next: end.next, log }
}

/** Whether an earlier attempt of unknown outcome has written exactly these lines. */
async function hasLines(
  tx: WriteTransaction,
  row: HeadRow | undefined,
  log: string,
  expect: 0 | Head,
  lines: readonly string[],
): Promise<boolean> {
  const { next } = headAfter(log, expect, lines)
  if (row === undefined || row.log !== log || row.next < next) return false
  const found = await readLines(tx, log, next - lines.length, next)
  return lines.every((line, index) => found[index] === line)
}

function headAfter(log: string, expect: 0 | Head, lines: readonly string[]): Head {
  return { next: (expect === 0 ? 0 : expect.next) + lines.length, log }
}
