/**
 * The entries of a log in memory: all of them, or those from some line to the end. Opening from the end is exact because a parent
 * precedes its children and a tombstone or an edit follows its target: every line that can change a loaded entry is loaded too, and a
 * missing line can only be further back.
 */
import type { Seq } from "../storage/contract.ts"
import type { Entry } from "../format/entry.ts"
import type { Message } from "../format/message.ts"
import { estimateMessage } from "../format/tokens.ts"
import { IdIndex } from "./id-index.ts"

/** The entry of a line; undefined for a line that is not an entry (the header, a line that cannot be parsed). */
export type EntrySlot = Entry | undefined

/**
 * An entry that is kept as its line until it is read. Appended entries are seldom read back, and unlike the caller's object the text
 * cannot change.
 */
export class LazyEntry {
  readonly id: string
  readonly type: string
  readonly line: string

  constructor(id: string, type: string, line: string) {
    this.id = id
    this.type = type
    this.line = line
  }
}

export class EntryLog {
  /** By position, as far as `anchors.ts` has found them. */
  readonly anchors: Seq[] = []
  readonly continued: Seq[] = []
  #from: Seq
  #slots: (EntrySlot | LazyEntry)[]
  readonly #ids: IdIndex
  /** Seqs of tombstones, ascending. They act on every branch. */
  #tombstones: Seq[] = []
  /** Their targets that are loaded; undefined until it is asked for them. */
  #deleted: Set<Seq> | undefined
  /** By position; 0 until it is asked for them. */
  #tokens = new Uint32Array()

  constructor(from: Seq = 0) {
    this.#from = from
    this.#ids = new IdIndex(from)
    this.#slots = []
  }

  static of(slots: readonly EntrySlot[], from: Seq = 0): EntryLog {
    const log = new EntryLog(from)
    for (const slot of slots) log.push(slot)
    return log
  }

  /** Seq of the first line loaded. */
  get from(): Seq {
    return this.#from
  }

  /** Seq after the last line loaded. */
  get end(): Seq {
    return this.#from + this.#slots.length
  }

  /** Whether the whole log is loaded. */
  get complete(): boolean {
    return this.#from === 0
  }

  /** Seqs of the loaded entries that a tombstone has deleted. */
  get deleted(): ReadonlySet<Seq> {
    this.#deleted ??= new Set(this.deletions(-1).map(([, target]) => target))
    return this.#deleted
  }

  /** Seq of the last tombstone; -1 if none is loaded. */
  get lastTombstone(): Seq {
    return this.#tombstones.at(-1) ?? -1
  }

  /** The entry at a seq. Its `seq` field is correct even if the stored one is not. */
  at(seq: Seq): EntrySlot {
    const slot = this.#slots[seq - this.#from]
    if (!(slot instanceof LazyEntry)) return slot
    const entry = { ...(JSON.parse(slot.line) as Entry), seq }
    this.#slots[seq - this.#from] = entry
    return entry
  }

  /** The estimate of a message, made once for that of the entry at `seq`: a context is made again and again. */
  tokensOf(message: Message, seq: Seq): number {
    const index = seq - this.#from
    // A compaction includes system messages that are not its own.
    if ((this.#slots[index] as Entry | undefined)?.["message"] !== message) return estimateMessage(message)
    if (index >= this.#tokens.length) {
      const more = new Uint32Array(this.#slots.length * 2)
      more.set(this.#tokens)
      this.#tokens = more
    }
    return (this.#tokens[index] ||= estimateMessage(message))
  }

  push(slot: EntrySlot | LazyEntry): void {
    const seq = this.end
    this.#slots.push(slot)
    if (slot !== undefined) this.#ids.pushed(slot.id)
    if (slot?.type !== "tombstone") return
    this.#tombstones.push(seq)
    this.#deleted = undefined
  }

  /**
   * Adds older lines, which must end where the loaded ones begin. Calls `onRepeated` for each older entry whose id occurs again, with the
   * seq of the next entry with that id, the last of them first.
   */
  prepend(slots: readonly EntrySlot[], onRepeated?: (seq: Seq, again: Seq) => void): void {
    const from = this.#from - slots.length
    const tombstones: Seq[] = []
    for (let index = 0; index < slots.length; index++)
      if (slots[index]?.type === "tombstone") tombstones.push(from + index)
    if (!this.#ids.takeOlder(slots)) {
      this.#index()
      this.#ids.prepend(slots, from, onRepeated)
    }
    this.#tombstones = tombstones.concat(this.#tombstones)
    this.#deleted = undefined
    this.#tokens = new Uint32Array()
    this.anchors.length = this.continued.length = 0
    this.#slots = (slots as (EntrySlot | LazyEntry)[]).concat(this.#slots)
    this.#from = from
  }

  /** Removes every line from `end` on. */
  truncate(end: Seq): void {
    const start = Math.max(this.#from, end)
    if (start < this.end) this.#index()
    const cut = this.#slots.splice(start - this.#from)
    this.#ids.truncate(cut, start)
    this.#tokens.fill(0, start - this.#from)
    this.anchors.length = Math.min(this.anchors.length, start - this.#from)
    // A target precedes its tombstone: if no tombstone is removed, no deleted entry is.
    while ((this.#tombstones.at(-1) ?? -1) >= end) {
      this.#tombstones.pop()
      this.#deleted = undefined
    }
  }

  /**
   * Resolves a reference: the nearest entry before `before` with this id. Undefined: none is loaded; unless the log is {@link complete}
   * there may be one further back.
   */
  find(id: string, before: Seq = this.end): Seq | undefined {
    if (before <= this.#from) return undefined
    // Most references mean the entry directly before: no index is needed.
    if (this.#slots[before - 1 - this.#from]?.id === id) return before - 1
    return this.#ids.find(id, before, this.#slots, this.#from)
  }

  /** The first loaded entry with an id. */
  first(id: string): Seq | undefined {
    this.#index()
    return this.#ids.first(id)
  }

  /** The nearest entry before a seq. Undefined: none is loaded. */
  entryBefore(seq: Seq): Seq | undefined {
    for (let at = Math.min(seq, this.end) - 1; at >= this.#from; at--) {
      if (this.#slots[at - this.#from] !== undefined) return at
    }
    return undefined
  }

  /** The tombstones after a seq, each with the loaded entry that it deletes. */
  deletions(after: Seq): readonly (readonly [tombstone: Seq, target: Seq])[] {
    const later = this.#tombstones.filter((tombstone) => tombstone > after)
    return later.flatMap((tombstone): readonly (readonly [Seq, Seq])[] => {
      const targetId = this.at(tombstone)?.["targetId"]
      const target = typeof targetId === "string" ? this.find(targetId, tombstone) : undefined
      return target === undefined ? [] : [[tombstone, target]]
    })
  }

  /** Whether a tombstone after a seq deletes the entry that had this id there. The entry need not be loaded. */
  deletesAfter(seq: Seq, id: string): boolean {
    return this.#tombstones.some(
      (tombstone) =>
        tombstone > seq && this.at(tombstone)?.["targetId"] === id && (this.find(id, tombstone) ?? -1) < seq,
    )
  }

  #index(): void {
    this.#ids.cover(this.#slots, this.#from)
  }
}
