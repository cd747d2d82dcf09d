/**
 * The entries of a log in memory: all of them, or a contiguous stretch that reaches to the log's end. Tail-first opening rests on
 * two facts: a parent stands before its children, and a tombstone or an edit stands after its target. So whatever can alter an
 * entry of the stretch is in the stretch, and what is missing from it can only lie further back.
 */
import type { Seq } from "../storage/contract.ts"
import type { Entry } from "../format/records.ts"
import { IdIndex } from "./id-index.ts"

/** A line's entry; undefined for a line that is none (the header, a line that cannot be parsed). */
export type EntrySlot = Entry | undefined

/**
 * An entry that is kept as its line until somebody looks: what a session appends is seldom read back, and a copy of the text, unlike
 * the caller's object, cannot change under it.
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
  #from: Seq
  #slots: (EntrySlot | LazyEntry)[]
  readonly #ids: IdIndex
  /** Seqs of tombstones, ascending: they act on every branch, so a context must know them all. */
  #tombstones: Seq[] = []
  /** What they delete, as far as they were looked at. Once a target is held, nothing older can take its place. */
  readonly #deleted = new Set<Seq>()
  /** Tombstones that nobody has looked at yet. */
  #unread: Seq[] = []
  /** Tombstones whose target is not held, by its id. */
  readonly #awaiting = new Map<string, Seq[]>()

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

  /** Seq of the first line held. */
  get from(): Seq {
    return this.#from
  }

  /** Seq after the last line held. */
  get end(): Seq {
    return this.#from + this.#slots.length
  }

  /** Whether nothing further back exists. */
  get complete(): boolean {
    return this.#from === 0
  }

  /** Seqs that a tombstone anywhere in what is held has deleted. Targets that lie further back are not in it. */
  get deleted(): ReadonlySet<Seq> {
    for (const seq of this.#unread.splice(0)) {
      const targetId = this.at(seq)?.["targetId"]
      if (typeof targetId === "string") this.#delete(targetId, seq)
    }
    return this.#deleted
  }

  /** The entry at a place; its `seq` is its place. */
  at(seq: Seq): EntrySlot {
    const slot = this.#slots[seq - this.#from]
    if (!(slot instanceof LazyEntry)) return slot
    const entry = { ...(JSON.parse(slot.line) as Entry), seq }
    this.#slots[seq - this.#from] = entry
    return entry
  }

  push(slot: EntrySlot | LazyEntry): void {
    const seq = this.end
    this.#slots.push(slot)
    if (slot !== undefined) this.#ids.pushed(slot.id)
    if (slot?.type !== "tombstone") return
    this.#tombstones.push(seq)
    this.#unread.push(seq)
  }

  /**
   * Puts older lines in front; they must end where the held ones begin. Tells of each older entry whose id a later one has, with the
   * place of the next one that has it, the last of them first.
   */
  prepend(slots: readonly EntrySlot[], onRepeated?: (seq: Seq, again: Seq) => void): void {
    const from = this.#from - slots.length
    const tombstones: Seq[] = []
    for (let index = slots.length - 1; index >= 0; index--) {
      if (slots[index]?.type === "tombstone") tombstones.push(from + index)
    }
    if (!this.#ids.takeOlder(slots)) {
      this.#index()
      this.#ids.prepend(slots, from, onRepeated)
    }
    tombstones.reverse()
    this.#tombstones = tombstones.concat(this.#tombstones)
    this.#unread = tombstones.concat(this.#unread)
    this.#slots = (slots as (EntrySlot | LazyEntry)[]).concat(this.#slots)
    this.#from = from
    for (const [id, awaiting] of this.#awaiting) {
      if ((this.first(id) ?? this.end) >= from + slots.length) continue
      this.#awaiting.delete(id)
      for (const seq of awaiting) this.#delete(id, seq)
    }
  }

  /** Takes away every line from `end` on. */
  truncate(end: Seq): void {
    const start = Math.max(this.#from, end)
    if (start < this.end) this.#index()
    const cut = this.#slots.splice(start - this.#from)
    this.#ids.truncate(cut, start)
    const tombstones = this.#tombstones.length
    while ((this.#tombstones.at(-1) ?? -1) >= end) this.#tombstones.pop()
    // A target stands before its tombstone: where no tombstone is cut off, nothing that is deleted is.
    if (this.#tombstones.length < tombstones) this.#lookAgain()
  }

  /**
   * What a reference means: the nearest entry before `before` that has this id. Undefined: none is held; it may lie further back
   * unless the log is {@link complete}.
   */
  find(id: string, before: Seq = this.end): Seq | undefined {
    if (before <= this.#from) return undefined
    // Most references mean the entry before: no map needs to be asked.
    if (this.#slots[before - 1 - this.#from]?.id === id) return before - 1
    this.#index()
    return this.#ids.find(id, before)
  }

  /** The first entry held with an id. */
  first(id: string): Seq | undefined {
    this.#index()
    return this.#ids.first(id)
  }

  /** The nearest entry before a place. Undefined: none is held. */
  entryBefore(seq: Seq): Seq | undefined {
    for (let at = Math.min(seq, this.end) - 1; at >= this.#from; at--) {
      if (this.#slots[at - this.#from] !== undefined) return at
    }
    return undefined
  }

  /** What tombstones behind a place delete. */
  deletedAfter(seq: Seq): readonly Seq[] {
    const later = this.#tombstones.filter((tombstone) => tombstone > seq)
    return later.flatMap((tombstone) => this.#targetOf(tombstone) ?? [])
  }

  #index(): void {
    this.#ids.cover(this.#slots, this.#from)
  }

  #targetOf(tombstone: Seq): Seq | undefined {
    const targetId = this.at(tombstone)?.["targetId"]
    return typeof targetId === "string" ? this.find(targetId, tombstone) : undefined
  }

  #delete(targetId: string, tombstone: Seq): void {
    const target = this.find(targetId, tombstone)
    if (target !== undefined) this.#deleted.add(target)
    else {
      const awaiting = this.#awaiting.get(targetId)
      if (awaiting === undefined) this.#awaiting.set(targetId, [tombstone])
      else awaiting.push(tombstone)
    }
  }

  #lookAgain(): void {
    this.#deleted.clear()
    this.#awaiting.clear()
    this.#unread = [...this.#tombstones]
  }
}
