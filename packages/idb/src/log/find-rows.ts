/** Finds rows by their keys, which hold the seq and the byte offset of a row: the row of a line, and the line at which a window begins. */
import { type Seq, utf8Length } from "@sessions/core/storage"
import { type HeadRow, type ReadTransaction, type RowKey, rowRange, type WriteTransaction } from "../database/schema.ts"
import { linesOf } from "./rows.ts"

/** The key of the row that contains a line. */
export async function findRowKey(tx: ReadTransaction | WriteTransaction, log: string, seq: Seq): Promise<RowKey> {
  if (seq === 0) return [log, 0, 0]
  const upTo = IDBKeyRange.bound([log], [log, seq, Number.POSITIVE_INFINITY])
  const cursor = await tx.objectStore("log").openKeyCursor(upTo, "prev")
  return cursor?.key ?? [log, 0, 0]
}

/** The seq of the first line of the window before `to`, which is above 0: the last lines that come to `maxBytes`, but at least one. */
export async function findWindow(tx: ReadTransaction, head: HeadRow, to: Seq, maxBytes: number): Promise<Seq> {
  const { log, next, bytes } = head
  const end = to === next ? bytes : await offsetOf(tx, log, to)
  const low = end - maxBytes
  if (low <= 0) return 0
  // Twice as many lines as the window has if all lines of the log are alike.
  const [, first, offset] = await findRowAt(tx, log, low, to, Math.ceil((2 * maxBytes * next) / bytes))
  let seq = first
  let at = offset
  for (const line of await loadLines(tx, [log, first, offset])) {
    if (at >= low) break
    at += utf8Length(line) + 1
    seq++
  }
  return Math.min(seq, to - 1)
}

/** The byte offset of a line in the log. */
async function offsetOf(tx: ReadTransaction, log: string, seq: Seq): Promise<number> {
  const key = await findRowKey(tx, log, seq - 1)
  const [, from, offset] = key
  const lines = (await loadLines(tx, key)).slice(0, seq - from)
  return lines.reduce((sum, line) => sum + utf8Length(line) + 1, offset)
}

async function loadLines(tx: ReadTransaction, key: RowKey): Promise<string[]> {
  return linesOf(await tx.objectStore("log").get(key), key[1])
}

/** The key of the row that contains the byte `target`, which is before the line `to`. `lines`: how many lines back to look at first. */
async function findRowAt(tx: ReadTransaction, log: string, target: number, to: Seq, lines: number): Promise<RowKey> {
  const from = Math.max(0, to - lines)
  const keys = await tx.objectStore("log").getAllKeys(rowRange(log, from, to))
  const found = keys.findLast(([, , offset]) => offset <= target)
  if (found !== undefined || from === 0) return found ?? [log, 0, 0]
  return findRowAt(tx, log, target, to, 4 * lines)
}
