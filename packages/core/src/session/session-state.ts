/**
 * What a session is in memory: the loaded end of its log, the entries behind it that wait for their acknowledgement, the leaf and
 * the folded information. No I/O.
 */
import { lineOf } from "../format/line.ts"
import type { Entry, Header } from "../format/records.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { LazySlot } from "../tree/entry-log.ts"
import type { EntryLog, Slot } from "../tree/entry-log.ts"
import { foldInfo } from "./info.ts"
import type { InfoFold } from "./info.ts"
import type { PendingEntry } from "./pending.ts"

export class SessionState {
  header: Header
  log: EntryLog
  /** The acknowledged end; undefined while the session is not in the storage. */
  head: Head | undefined
  /** Where the acknowledged lines end and the pending ones begin. */
  acked: Seq
  /** The leaf, pending entries included. */
  leafId: string | null
  /** The leaf if everything pending failed. */
  ackedLeafId: string | null
  /** Folded up to `acked`; undefined where making it would mean reading the whole log. */
  fold: InfoFold | undefined
  /** Bytes of the acknowledged log, or more: own lines count three bytes a UTF-16 unit until they are counted exactly. */
  bytesAtMost: number
  /** Folds after each pending entry. */
  #folds: (InfoFold | undefined)[] = []

  constructor(o: {
    header: Header
    log: EntryLog
    head: Head | undefined
    leafId: string | null
    fold: InfoFold | undefined
    bytes: number
  }) {
    this.header = o.header
    this.log = o.log
    this.head = o.head
    this.acked = o.log.end
    this.leafId = o.leafId
    this.ackedLeafId = o.leafId
    this.fold = o.fold
    this.bytesAtMost = o.bytes
  }

  /** Puts an entry at the end, pending; it becomes the leaf. `entry` is its content as of now, for the fold. */
  place(pending: PendingEntry, entry: Entry): void {
    const seq = this.log.end
    this.log.push(new LazySlot(pending.id, pending.type, lineOf(pending.full, seq)))
    this.#folds.push(this.#foldNext(entry, seq))
    this.leafId = pending.id
  }

  /** The information as of the first `count` pending entries. */
  foldAt(count: number): InfoFold | undefined {
    return count === 0 ? this.fold : this.#folds[count - 1]
  }

  get pendingCount(): number {
    return this.log.end - this.acked
  }

  /** The first `count` pending entries are in the log, at their places. */
  acknowledge(count: number, head: Head, bytes: number): void {
    const fold = this.foldAt(count)
    this.fold = fold === undefined || fold.log === head.log ? fold : { ...fold, log: head.log }
    this.#folds = this.#folds.slice(count)
    this.acked += count
    this.head = head
    this.bytesAtMost += bytes
  }

  /** Takes pending entries from `index` on out of memory. */
  dropPending(index: number, leafId: string | null): void {
    this.log.truncate(this.acked + index)
    this.#folds.length = Math.min(this.#folds.length, index)
    this.leafId = leafId
  }

  /** Puts lines that stand in the log between what was known and what is pending. */
  absorb(slots: readonly Slot[], head: Head, remaining: readonly PendingEntry[]): void {
    this.log.truncate(this.acked)
    this.#folds = []
    let fold = this.fold
    for (const slot of slots) {
      if (fold !== undefined) fold = foldInfo(fold, slot, this.log.end)
      this.log.push(slot)
    }
    this.fold = fold === undefined ? undefined : { ...fold, log: head.log }
    this.acked = this.log.end
    this.head = head
    this.replacePending(remaining)
  }

  /** Puts pending entries anew behind the acknowledged ones. */
  replacePending(remaining: readonly PendingEntry[]): void {
    this.log.truncate(this.acked)
    this.#folds = []
    for (const pending of remaining) {
      const seq = this.log.end
      this.log.push(new LazySlot(pending.id, pending.type, lineOf(pending.full, seq)))
      this.#folds.push(this.fold === undefined ? undefined : this.#foldNext(this.log.at(seq), seq))
    }
  }

  #foldNext(entry: Slot, seq: Seq): InfoFold | undefined {
    const fold = this.foldAt(this.#folds.length)
    return fold === undefined ? undefined : foldInfo(fold, entry, seq)
  }
}
