/**
 * The state of an open session in memory: the loaded end of its log, the pending entries behind it, the leaf, and the session
 * information as of each of them. No I/O.
 */
import type { Entry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { type EntryLog, type EntrySlot, LazyEntry } from "../log/entry-log.ts"
import { leafAt, parentOf, ROOT } from "../log/path.ts"
import { divergenceAt, type Divergence, openAt } from "../log/diverged.ts"
import { isLastWriterWins, laterOf, type WriteTime, writeTimeOf } from "../log/last-writer-wins.ts"
import type { OpenTip, OpenTips } from "../log/projected-tips.ts"
import { type InfoProjection, projectEntry, projectFurther, withTips } from "../info/projection.ts"
import { leafAfter, memoryLine, type PendingEntry } from "./pending.ts"

/** Projects a log as it was opened, when its information is first asked for. */
type MakeProjection = () => InfoProjection | undefined

/** Stored lines that were not loaded before. */
export interface FoundLines {
  /** The end of the loaded lines, unless some of those have vanished. */
  readonly from: Seq
  readonly slots: readonly EntrySlot[]
  readonly head: Head
  /** Size of the whole log. */
  readonly bytes: number
}

export class SessionState {
  header: Header
  log: EntryLog
  /** The acknowledged end, with the mark of its line. */
  head: Head
  /** Where the acknowledged lines end and the pending ones begin. */
  acknowledged: Seq
  /** Lines before this one were acknowledged, whoever appended them. Later ones were read, and may be of a write that then fails. */
  sure: Seq
  /** The runs of lines that this session has appended: first seq, end, first seq, end … */
  readonly own: Seq[] = []
  /** The leaf, pending entries included. */
  leafId: string | null
  /** The leaf if everything pending failed. */
  acknowledgedLeafId: string | null
  /** Bytes of the acknowledged log. */
  bytes: number
  /** The open tips that were reported to the caller, by seq. A `leaf` or `branch_summary` at a tip settles them. */
  reported: Map<Seq, OpenTip> = new Map()
  /** See `settledLines`. */
  settled: number
  #projection: InfoProjection | MakeProjection | undefined
  /** The information after each pending entry. */
  #projections: (InfoProjection | undefined)[] = []

  constructor(
    o: Pick<SessionState, "header" | "log" | "head" | "leafId" | "bytes" | "settled"> & {
      readonly info: MakeProjection
    },
  ) {
    this.header = o.header
    this.log = o.log
    this.head = o.head
    this.acknowledged = o.log.end
    this.sure = o.log.end
    this.leafId = o.leafId
    this.acknowledgedLeafId = o.leafId
    this.#projection = o.info
    this.bytes = o.bytes
    this.settled = o.settled
  }

  /** The information up to `acknowledged`; undefined if it would take reading the whole log. */
  get projection(): InfoProjection | undefined {
    if (typeof this.#projection === "function") this.#projection = this.#projection()
    return this.#projection
  }

  set projection(projection: InfoProjection | MakeProjection | undefined) {
    this.#projection = projection
  }

  /** Adds a pending entry at the end; it becomes the leaf unless it keeps the leaf. `entry` holds the caller's objects. */
  push(pending: PendingEntry, entry: Entry): void {
    const seq = this.#push(pending)
    // The information keeps metadata values, which must not be the caller's objects; a hint is in the line only.
    const asWritten = pending.hint !== undefined || entry.type === "metadata"
    this.#projectOn(asWritten ? undefined : entry, seq)
    if (!pending.keepsLeaf) this.leafId = leafAt(pending)
  }

  /** Whether {@link openTips} are all of them. */
  get knowsTips(): boolean {
    return this.log.complete || this.info?.tips !== undefined
  }

  /** The tips that are open to this session; if they are not known, those among the loaded lines. */
  openTips(): OpenTips {
    return openAt(this.log, this.info?.tips, this.seqOf(this.leafId), this.settled)
  }

  /** Seq of a loaded entry; null for no id, or if it is not loaded. */
  seqOf(id: string | null): Seq | null {
    return id === null ? null : (this.log.find(id) ?? null)
  }

  /** The open tips if one of them was not reported yet. They count as reported from here on. */
  reportTips(open: OpenTips = this.openTips()): Divergence | undefined {
    const divergence = divergenceAt(this.leafId, open)
    if (divergence === undefined) return undefined
    const isNew = open.tips.some(({ seq, id }) => this.reported.get(seq)?.id !== id)
    for (const tip of open.tips) this.reported.set(tip.seq, tip)
    return isNew ? divergence : undefined
  }

  /** Whether the log certainly has an entry with this id. */
  knows(id: string): boolean {
    return this.log.find(id) !== undefined || this.info?.tips?.tips.some((tip) => tip.id === id) === true
  }

  /** The information, pending entries included. */
  get info(): InfoProjection | undefined {
    return this.infoAt(this.pendingCount)
  }

  /** The information as of the first `count` pending entries. */
  infoAt(count: number): InfoProjection | undefined {
    return count === 0 ? this.projection : this.#projections[count - 1]
  }

  /** Takes over information that was read from the log, up to a line from which on all are loaded. */
  learn(made: InfoProjection): void {
    const { log } = this
    if (made.log !== this.head.log || made.to.seq < log.from - 1 || made.to.seq >= this.acknowledged) return
    const read = projectFurther(made, this, this.acknowledged)
    const { projection } = this
    const isUsable = projection !== undefined && projection.stale === undefined
    this.projection = isUsable ? withTips(projection, read.tips, this.settled) : read
    this.#projections = []
    for (let seq = this.acknowledged; seq < log.end; seq++) this.#projectOn(undefined, seq)
  }

  /** The greatest write time of the annotations that this session knows: those of the information, else those of the loaded lines. */
  get latestWriteTime(): WriteTime | undefined {
    const { info, log } = this
    if (info !== undefined) return info.stamps.latest
    let latest: WriteTime | undefined
    for (let seq = log.from; seq < log.end; seq++) {
      const entry = log.at(seq)
      if (entry !== undefined && isLastWriterWins(entry.type)) latest = laterOf(writeTimeOf(entry), latest)
    }
    return latest
  }

  get pendingCount(): number {
    return this.log.end - this.acknowledged
  }

  /** The first `count` pending entries are in the log, at their seqs; their lines have this many bytes. */
  acknowledge(count: number, head: Head, bytes: number): void {
    this.bytes += bytes
    this.projection = ofLog(this.infoAt(count), head)
    this.#projections.splice(0, count)
    this.appended(this.acknowledged, this.acknowledged + count)
    this.acknowledged += count
    this.head = head
  }

  /** Lines that this session has appended are in the log. */
  appended(from: Seq, to: Seq): void {
    const { own } = this
    if (own.at(-1) === from) own[own.length - 1] = to
    else own.push(from, to)
    this.sure = Math.max(this.sure, to)
  }

  /** The entries that this session has appended from a line on. */
  ownFrom(seq: Seq): Entry[] {
    const entries: Entry[] = []
    for (let run = 0; run < this.own.length; run += 2) {
      const [from, to] = this.own.slice(run) as [Seq, Seq]
      for (let at = Math.max(from, seq); at < to; at++) entries.push(this.log.at(at) as Entry)
    }
    return entries
  }

  /**
   * Takes over the stored lines from `from` on, in place of the lines loaded there, acknowledged or pending. `from` is less than
   * `acknowledged` only if lines were read of a write that then failed.
   */
  applyRemote(found: FoundLines): void {
    if (found.from < this.acknowledged) this.#cut(found.from)
    this.log.truncate(found.from)
    this.#projections = []
    const { projection } = this
    for (const slot of found.slots) this.log.push(slot)
    this.projection = ofLog(projection && projectFurther(projection, this), found.head)
    this.acknowledged = this.log.end
    this.head = found.head
    this.bytes = found.bytes
  }

  /** The leaf becomes the last entry of its path that is left; the information has to be read from the log. */
  #cut(end: Seq): void {
    this.projection = undefined
    let leaf = this.seqOf(this.acknowledgedLeafId) ?? ROOT
    while (leaf >= end) leaf = parentOf(this.log, leaf)
    this.acknowledgedLeafId = this.log.at(leaf)?.id ?? null
  }

  /** Puts these, and nothing else, behind the acknowledged entries. */
  replacePending(entries: readonly PendingEntry[]): void {
    this.log.truncate(this.acknowledged)
    this.#projections = []
    for (const pending of entries) this.#projectOn(undefined, this.#push(pending))
    this.leafId = leafAfter(entries, this.acknowledgedLeafId)
  }

  /** Removes all pending entries but these, the first ones. */
  keepPending(entries: readonly PendingEntry[]): void {
    this.log.truncate(this.acknowledged + entries.length)
    this.#projections.length = Math.min(this.#projections.length, entries.length)
    this.leafId = leafAfter(entries, this.acknowledgedLeafId)
  }

  #push(pending: PendingEntry): Seq {
    const seq = this.log.end
    const line = memoryLine(pending, seq, this.log)
    this.log.push(new LazyEntry(pending.id, pending.type, line))
    return seq
  }

  #projectOn(entry: Entry | undefined, seq: Seq): void {
    const projection = this.infoAt(this.#projections.length)
    this.#projections.push(projection && projectEntry(projection, entry ?? this.log.at(seq), seq, this))
  }
}

function ofLog(projection: InfoProjection | undefined, head: Head): InfoProjection | undefined {
  return projection === undefined || projection.log === head.log ? projection : { ...projection, log: head.log }
}
