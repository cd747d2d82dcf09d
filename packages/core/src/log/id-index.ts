/**
 * The seqs of a log's entries by their ids. Older lines whose ids ascend, as ULIDs of one writer do, are searched by halving. The others are
 * indexed at the first lookup, since appending, and reading a path without branches, need none, and the index costs as much as holding the
 * lines does. Call `cover` before a change of indexed lines.
 */
import type { Seq } from "../storage/contract.ts"

interface Named {
  readonly id: string
}

export class IdIndex {
  /** The indexed range. */
  #from: Seq
  #to: Seq
  /** Seq of the last entry with each id. */
  readonly #last = new Map<string, Seq>()
  /** Seqs of earlier entries with an id that occurs more than once, ascending. */
  readonly #earlier = new Map<string, Seq[]>()
  /** A lower bound of the loaded ids: removing lines does not raise it. */
  #lowest: string | undefined

  constructor(from: Seq) {
    this.#from = from
    this.#to = from
  }

  /** An entry was appended. */
  pushed(id: string): void {
    if (this.#lowest === undefined || id < this.#lowest) this.#lowest = id
  }

  /**
   * Older lines were added. True if each but the first is an entry, and their ids ascend up to the loaded ones: then no id repeats, and they
   * need no index yet. Otherwise call {@link prepend}.
   */
  takeOlder(slots: readonly (Named | undefined)[]): boolean {
    let ascending = true
    for (let index = slots.length - 1; index >= 0; index--) {
      const id = slots[index]?.id
      if (id === undefined) ascending &&= index === 0
      else if (this.#lowest === undefined || id < this.#lowest) this.#lowest = id
      else ascending = false
    }
    return ascending
  }

  /** Indexes all lines. The ids of lines before the indexed range are unique. */
  cover(slots: readonly (Named | undefined)[], from: Seq): void {
    while (this.#from > from) {
      const id = slots[--this.#from - from]?.id
      if (id !== undefined) this.#last.set(id, this.#from)
    }
    for (const end = from + slots.length; this.#to < end; this.#to++) {
      const id = slots[this.#to - from]?.id
      if (id === undefined) continue
      const before = this.#last.get(id)
      this.#last.set(id, this.#to)
      if (before === undefined) continue
      const earlier = this.#earlier.get(id)
      if (earlier === undefined) this.#earlier.set(id, [before])
      else earlier.push(before)
    }
  }

  /** Indexes older lines. See `EntryLog.prepend`. */
  prepend(slots: readonly (Named | undefined)[], from: Seq, onRepeated?: (seq: Seq, again: Seq) => void): void {
    /** New seqs of ids that occur more than once, descending. */
    const repeated = new Map<string, Seq[]>()
    for (let index = slots.length - 1; index >= 0; index--) {
      const id = slots[index]?.id
      if (id === undefined) continue
      if (!this.#last.has(id)) {
        this.#last.set(id, from + index)
        continue
      }
      const seqs = repeated.get(id)
      onRepeated?.(from + index, seqs?.at(-1) ?? (this.first(id) as Seq))
      if (seqs === undefined) repeated.set(id, [from + index])
      else seqs.push(from + index)
    }
    for (const [id, seqs] of repeated) this.#earlier.set(id, seqs.reverse().concat(this.#earlier.get(id) ?? []))
    this.#from = from
  }

  /** The lines from `start` on, `cut`, were removed. */
  truncate(cut: readonly (Named | undefined)[], start: Seq): void {
    for (let index = cut.length - 1; index >= 0; index--) {
      const id = cut[index]?.id
      if (id === undefined) continue
      const earlier = this.#earlier.get(id)
      const before = earlier?.pop()
      if (earlier?.length === 0) this.#earlier.delete(id)
      if (before === undefined) this.#last.delete(id)
      else this.#last.set(id, before)
    }
    this.#to = Math.min(this.#to, start)
  }

  /** The nearest entry before `before` with this id. */
  find(id: string, before: Seq, slots: readonly (Named | undefined)[], from: Seq): Seq | undefined {
    if (this.#to < from + slots.length) this.cover(slots, from)
    const last = this.#last.get(id)
    if (last === undefined) {
      const at = firstNot(this.#from - from, (index) => {
        while (index > 0 && slots[index] === undefined) index--
        return slots[index] === undefined || (slots[index] as Named).id < id
      })
      return slots[at]?.id === id && from + at < before ? from + at : undefined
    }
    if (last < before) return last
    const earlier = this.#earlier.get(id)
    return earlier === undefined ? undefined : lastBelow(earlier, before)
  }

  first(id: string): Seq | undefined {
    return this.#earlier.get(id)?.[0] ?? this.#last.get(id)
  }
}

/** The largest of ascending seqs below a bound. Halving, since all entries of a damaged log may have one id. */
function lastBelow(ascending: readonly Seq[], bound: Seq): Seq | undefined {
  return ascending[firstNot(ascending.length, (index) => (ascending[index] as Seq) < bound) - 1]
}

/** The first index below `count` that is not low, or `count`. All that are low come first. */
export function firstNot(count: number, isLow: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isLow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
