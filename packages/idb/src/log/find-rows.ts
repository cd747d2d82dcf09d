/** Finds rows by their keys, which hold the seq and the byte offset of a row: the row of a line, and the line at which a window begins. */
import { type Seq, utf8Length } from "@sessions/core/storage"
import { type HeadRow, type ReadTransaction, type RowKey, rowRange, type WriteTransaction } from "../schema.ts"
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
  const [, first, offset] = await findRowAt(tx, log, low, { seq: to, offset: end })
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

/** Below this distance in bytes, the keys of the rows between are loaded. */
const NEAR_BYTES = 65_536
const MAX_KEYS = 1_000

/**
 * The key of the row that contains the byte `target` of a log. The seq is estimated from the length of the lines on average, until a row is
 * found a little before the byte; every other estimate halves what is left, for logs whose lines differ much in length.
 */
async function findRowAt(
  tx: ReadTransaction,
  log: string,
  target: number,
  end: { readonly seq: Seq; readonly offset: number },
): Promise<RowKey> {
  let found: RowKey = [log, 0, 0]
  // The byte is in the row of a line from `low` on, and before the line `high.seq`.
  let low = 0
  let high = end
  for (let halve = false; high.seq - low > 1 && target - found[2] > NEAR_BYTES; halve = !halve) {
    const part = halve ? 0.5 : (target - found[2]) / (high.offset - found[2])
    const seq = Math.max(low + 1, Math.min(low + Math.floor((high.seq - low) * part), high.seq - 1))
    const key = await findRowKey(tx, log, seq)
    if (key[2] > target) high = { seq: key[1], offset: key[2] }
    else {
      found = key
      low = seq
    }
  }
  for (;;) {
    const keys = await tx.objectStore("log").getAllKeys(rowRange(log, found[1], high.seq), MAX_KEYS)
    const before = keys.filter(([, , offset]) => offset <= target).at(-1)
    if (before === undefined || before[1] === found[1]) return found
    found = before
    if (before !== keys.at(-1)) return found
  }
}
