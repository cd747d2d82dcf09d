/** Compacts the rows of a log: merges contiguous small rows into rows of up to 60 KB. Lines, seqs and the head do not change. */
import type { Seq } from "@sessions/core/storage"
import { type DatabaseContext, type LogRow, type RowKey, rowRange, type WriteTransaction } from "../schema.ts"
import { readTransaction, unawaited, writeTransaction } from "../database/transaction.ts"
import { getHead } from "./heads.ts"
import { ROW_BYTES } from "./rows.ts"

export interface CompactedRows {
  /** How many rows the log had. */
  readonly before: number
  /** How many it has now. */
  readonly after: number
}

/**
 * Compacts a log with one transaction per merged row, so that appends continue in between. A crash leaves the log as it was or
 * compacted in part. Does nothing to rows that another tab merged first, or whose log was deleted.
 *
 * @param check called before each transaction; stops the compaction if it throws
 */
export async function compactRows(
  context: DatabaseContext,
  session: string,
  check: () => void = () => undefined,
  maxBytes?: number,
): Promise<CompactedRows> {
  const { keys, bytes } = await readTransaction(context, ["heads", "log"], async (tx) => {
    const head = await getHead(tx, session)
    if (head === undefined) return { keys: [], bytes: 0 }
    return { keys: await tx.objectStore("log").getAllKeys(rowRange(head.log)), bytes: head.bytes }
  })
  let after = keys.length
  for (const { first, count } of planMerges(keys, bytes, maxBytes)) {
    check()
    const group = keys.slice(first, first + count)
    const merged = await writeTransaction(context, ["log"], (tx) => mergeRows(tx, group))
    if (merged) after -= count - 1
  }
  return { before: keys.length, after }
}

/** Neighbouring rows to merge, by their index. */
interface Merge {
  readonly first: number
  readonly count: number
}

/** From the start, as many neighbours as fit {@link ROW_BYTES}; at the end of the log only if they are many. */
export function planMerges(keys: readonly RowKey[], logBytes: number, maxBytes: number = ROW_BYTES): Merge[] {
  const merges: Merge[] = []
  const offsetOf = (index: number): number => keys[index]?.[2] ?? logBytes
  for (let first = 0; first < keys.length; ) {
    let count = 1
    while (first + count < keys.length && offsetOf(first + count + 1) - offsetOf(first) <= maxBytes) count++
    const isAtEnd = first + count === keys.length
    if (count >= (isAtEnd ? MANY_AT_END : 2)) merges.push({ first, count })
    first += count
  }
  return merges
}

/** The last row is merged again as the log grows. Waiting for this many rows means that each byte is rewritten a few times at most. */
const MANY_AT_END = 16

/** Returns false, and changes nothing, if the rows are not as planned any more, or damaged: a reader reports the damage. */
async function mergeRows(tx: WriteTransaction, group: readonly RowKey[]): Promise<boolean> {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return false
  const range = IDBKeyRange.bound(first, last)
  const store = tx.objectStore("log")
  const [keys, rows] = await Promise.all([store.getAllKeys(range), store.getAll(range)])
  if (keys.length !== group.length || rows.length !== group.length) return false
  if (keys.some((key, index) => indexedDB.cmp(key, group[index]) !== 0)) return false
  if (rows.some((row, index) => !isWhole(row, group[index]?.[1], group[index + 1]?.[1]))) return false
  unawaited(store.delete(range))
  unawaited(store.put(merge(rows), first))
  return true
}

/** Whether the row has the lines `from` to `to` (exclusive); of the last row of a group only `from` is known. */
function isWhole(row: unknown, from: Seq | undefined, to: Seq | undefined): boolean {
  const { from: found, text } = (row ?? {}) as Partial<LogRow>
  if (typeof text !== "string" || found === undefined || found !== from) return false
  return to === undefined || found + text.split("\n").length === to
}

function merge(rows: readonly LogRow[]): LogRow {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  return { from: rows[0]?.from ?? 0, bytes, text: rows.map(({ text }) => text).join("\n") }
}
