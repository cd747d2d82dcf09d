/**
 * What a session is in memory: the loaded end of its log, the entries behind it that wait for their acknowledgement, the leaf and
 * the folded information. No I/O.
 */
import { selectContext } from "../context/select.ts"
import type { Entry, Header } from "../format/records.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { LazySlot } from "../log/entry-log.ts"
import type { EntryLog, Slot } from "../log/entry-log.ts"
import { parentOf } from "../log/path.ts"
import { foldInfo, withState } from "../info/info.ts"
import type { InfoFold } from "../info/info.ts"
import { leafAfter, memoryLine } from "./pending.ts"
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
  /** Bytes of the acknowledged log, or more. */
  bytesAtMost: number
  /** Whether `bytesAtMost` is what the log has. */
  bytesExact = false
  #fold: InfoFold | undefined
  /** Makes the fold of the log as it was opened, until somebody asks for it. */
  #makeFold: (() => InfoFold | undefined) | undefined
  /** Folds after each pending entry. */
  #folds: (InfoFold | undefined)[] = []

  constructor(o: {
    header: Header
    log: EntryLog
    head: Head | undefined
    leafId: string | null
    fold: () => InfoFold | undefined
    bytes: number
  }) {
    this.header = o.header
    this.log = o.log
    this.head = o.head
    this.acked = o.log.end
    this.leafId = o.leafId
    this.ackedLeafId = o.leafId
    this.#makeFold = o.fold
    this.bytesAtMost = o.bytes
  }

  /** Folded up to `acked`; undefined where making it would mean reading the whole log. */
  get fold(): InfoFold | undefined {
    const make = this.#makeFold
    if (make === undefined) return this.#fold
    this.#makeFold = undefined
    this.#fold = make()
    return this.#fold
  }

  set fold(fold: InfoFold | undefined) {
    this.#fold = fold
    this.#makeFold = undefined
  }

  /** The log is another one, and this makes its fold. */
  foldLater(make: () => InfoFold | undefined): void {
    this.#makeFold = make
  }

  /** Puts an entry at the end, pending; it becomes the leaf unless it stands aside. `entry` is its content as of now. */
  place(pending: PendingEntry, entry: Entry): void {
    const seq = this.#push(pending)
    // What the fold keeps of a metadata value must not be the caller's own object; a hint stands in the line only.
    const asWritten = pending.hint !== undefined || entry.type === "metadata"
    this.#foldOn(asWritten ? undefined : entry, seq)
    if (!pending.aside) this.leafId = pending.id
  }

  /** The information as of the first `count` pending entries. */
  foldAt(count: number): InfoFold | undefined {
    return count === 0 ? this.fold : this.#folds[count - 1]
  }

  get pendingCount(): number {
    return this.log.end - this.acked
  }

  /** Of the last acknowledged entry; null where there is none. */
  get lastAckedId(): string | null {
    const last = this.log.entryBefore(this.acked)
    return (last === undefined ? undefined : this.log.at(last)?.id) ?? null
  }

  /** The first `count` pending entries are in the log, at their places. */
  acknowledge(count: number, head: Head): void {
    this.fold = ofLog(this.foldAt(count), head)
    this.#folds.splice(0, count)
    this.acked += count
    this.head = head
  }

  /** The log has grown by no more than `bytes`. */
  grow(bytes: number, o: { readonly exact: boolean }): void {
    this.bytesAtMost += bytes
    this.bytesExact &&= o.exact
  }

  count(bytes: number): void {
    this.bytesAtMost = bytes
    this.bytesExact = true
  }

  /**
   * What stands in the log from `from` on; what was held from there on, acknowledged or pending, is gone. `from` is less than
   * `acked` only where lines of a write that was never acknowledged had been seen and have vanished.
   */
  absorb(found: {
    readonly from: Seq
    readonly slots: readonly Slot[]
    readonly head: Head
    readonly bytes: number
  }): void {
    if (found.from < this.acked) this.#cut(found.from)
    this.log.truncate(found.from)
    this.#folds = []
    for (const slot of found.slots) {
      if (this.fold !== undefined) this.fold = foldInfo(this.fold, slot, this.log.end)
      this.log.push(slot)
    }
    this.fold = ofLog(this.fold, found.head)
    this.acked = this.log.end
    this.head = found.head
    this.grow(found.bytes, { exact: false })
  }

  /** The leaf is what of its path is left; only the log can tell the rest. */
  #cut(end: Seq): void {
    this.fold = undefined
    let leaf = this.ackedLeafId === null ? undefined : this.log.find(this.ackedLeafId)
    while (leaf !== undefined && leaf >= end) leaf = parentOf(this.log, leaf)
    this.ackedLeafId = (leaf === undefined ? undefined : this.log.at(leaf)?.id) ?? null
  }

  /** Puts these, and nothing else, behind the acknowledged entries. */
  replacePending(entries: readonly PendingEntry[]): void {
    this.log.truncate(this.acked)
    this.#folds = []
    for (const pending of entries) this.#foldOn(undefined, this.#push(pending))
    this.leafId = leafAfter(entries) ?? this.ackedLeafId
  }

  /** Takes away all pending entries but these, the first ones. */
  keepPending(entries: readonly PendingEntry[]): void {
    this.log.truncate(this.acked + entries.length)
    this.#folds.length = Math.min(this.#folds.length, entries.length)
    this.leafId = leafAfter(entries) ?? this.ackedLeafId
  }

  #push(pending: PendingEntry): Seq {
    const seq = this.log.end
    const line = memoryLine(pending, seq, (id) => this.log.find(id))
    this.log.push(new LazySlot(pending.id, pending.type, line))
    return seq
  }

  #foldOn(entry: Entry | undefined, seq: Seq): void {
    const fold = this.foldAt(this.#folds.length)
    const next = fold === undefined ? undefined : foldInfo(fold, entry ?? this.log.at(seq), seq)
    // Where the path has just moved to another branch it is mostly held, and nobody needs to read it again.
    const moved = next?.modelUnknown === true && fold?.modelUnknown !== true
    this.#folds.push(moved ? this.#withPath(next, seq) : next)
  }

  #withPath(fold: InfoFold, seq: Seq): InfoFold {
    const selection = selectContext(this.log, seq, this.header)
    if ("older" in selection) return fold
    const at = selection.compaction
    return withState(
      fold,
      selection.state,
      at === undefined ? undefined : { seq: at, id: (this.log.at(at) as Entry).id },
    )
  }
}

function ofLog(fold: InfoFold | undefined, head: Head): InfoFold | undefined {
  return fold === undefined || fold.log === head.log ? fold : { ...fold, log: head.log }
}
