/** Folding: contiguous small rows become one of about 64 KB. Lines, seqs and the head stay as they are. */
import { type LogRow, type RowKey, rowsOf, type Writing } from "../database/schema.ts"
import type { Environment } from "../environment.ts"
import { headRow } from "./heads.ts"
import { ROW_BYTES } from "./rows.ts"
import { reading, sent, writing } from "../database/transaction.ts"

/** How many rows a log had, and has. */
export interface Folded {
  readonly before: number
  readonly after: number
}

/**
 * Folds a log, one transaction a row that it makes: appends go on in between. A crash leaves the log as it was or with some rows
 * folded. Where another tab was faster, or the log is gone, nothing is done.
 */
export async function foldLog(
  env: Pick<Environment, "connection" | "durability">,
  session: string,
  check: () => void = () => undefined,
  most?: number,
): Promise<Folded> {
  const { keys, bytes } = await reading(env.connection, ["heads", "log"], async (tx) => {
    const head = await headRow(tx, session)
    if (head === undefined) return { keys: [], bytes: 0 }
    return { keys: await tx.objectStore("log").getAllKeys(rowsOf(head.log)), bytes: head.bytes }
  })
  let after = keys.length
  for (const { first, count } of planFold(keys, bytes, most)) {
    check()
    const group = keys.slice(first, first + count)
    const done = await writing(env.connection, ["log"], env.durability, (tx) => foldRows(tx, group))
    if (done) after -= count - 1
  }
  return { before: keys.length, after }
}

export interface Group {
  readonly first: number
  readonly count: number
}

/** Which rows to fold: from the start, as many neighbours as fit {@link ROW_BYTES}; at the end only if they are many. */
export function planFold(keys: readonly RowKey[], bytes: number, most: number = ROW_BYTES): Group[] {
  const groups: Group[] = []
  const startOf = (index: number): number => keys[index]?.[2] ?? bytes
  for (let first = 0; first < keys.length; ) {
    let count = 1
    while (first + count < keys.length && startOf(first + count + 1) - startOf(first) <= most) count++
    const atEnd = first + count === keys.length
    if (count >= (atEnd ? MANY_AT_END : 2)) groups.push({ first, count })
    first += count
  }
  return groups
}

/** The last row is folded anew as the log grows: with so many rows at a time each byte is written a few times, not hundreds. */
const MANY_AT_END = 16

/** Says whether it was done: not where the rows are no longer those of the plan. Damaged ones are left for a reader to tell of. */
async function foldRows(tx: Writing, group: readonly RowKey[]): Promise<boolean> {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return false
  const range = IDBKeyRange.bound(first, last)
  const store = tx.objectStore("log")
  const [keys, rows] = await Promise.all([store.getAllKeys(range), store.getAll(range)])
  if (keys.length !== group.length || rows.length !== group.length) return false
  if (keys.some((key, index) => indexedDB.cmp(key, group[index]) !== 0)) return false
  if (rows.some((row, index) => typeof row?.text !== "string" || row.from !== group[index]?.[1])) return false
  sent(store.delete(range))
  sent(store.put(joined(rows), first))
  return true
}

function joined(rows: readonly LogRow[]): LogRow {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
  return { from: rows[0]?.from ?? 0, bytes, text: rows.map(({ text }) => text).join("\n") }
}
