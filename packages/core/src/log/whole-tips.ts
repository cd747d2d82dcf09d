/**
 * The tips of a log that is held, whole or from some line on: exact, and without a limit. See `tips.ts`. If the log is held from some line
 * on, they are the tips among the held lines; a parent that is not held counts as an inner entry.
 */
import type { Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentOf } from "./path.ts"
import { capped, isContent, isLeaving, settledIds, TIP_LIMITS, type Tip, type TipLimits, type Tips } from "./tips.ts"

export interface WholeTips {
  /** Every tip, oldest first. */
  readonly tips: readonly { readonly seq: Seq; readonly settled: boolean }[]
  /** The tip that the last entry is anchored at, settled or not. */
  readonly current: Seq | null
}

/** `settled`: see `settledLines`. */
export function wholeTips(log: EntryLog, settled: number): WholeTips {
  return new TipSearch(log, settled).run()
}

/** The same in the form that `projectTips` continues. */
export function tipsOfLog(log: EntryLog, settled: number, limits: TipLimits = TIP_LIMITS): Tips {
  const search = new TipSearch(log, settled)
  const { tips, current } = search.run()
  const open = tips.filter((tip) => !tip.settled)
  const kept = open.map(({ seq }) => search.toTip(seq, limits.near))
  const { damaged } = search
  const isKept = open.some(({ seq }) => seq === current)
  const recent = damaged !== undefined && log.end - damaged <= limits.bridge ? damaged : undefined
  return capped(kept, isKept ? current : null, { damaged: recent }, limits)
}

interface FoundTip {
  readonly seq: Seq
  /** Seqs of the entries anchored here that are not content. */
  readonly near: Seq[]
  settled: boolean
}

/** No content is among the ancestors that are held. */
const NOWHERE = -1

class TipSearch {
  readonly #log: EntryLog
  readonly #settled: number
  /** The anchor of each held line; {@link NOWHERE} too for a line that is not an entry. */
  readonly #anchors: Int32Array
  readonly #tips = new Map<Seq, FoundTip>()
  /** Tips that are not settled, by their ids. */
  readonly #open = new Map<string, FoundTip[]>()
  #current: Seq = NOWHERE
  damaged: Seq | undefined

  constructor(log: EntryLog, settled: number) {
    this.#log = log
    this.#settled = settled
    this.#anchors = new Int32Array(log.end - log.from)
  }

  run(): WholeTips {
    const log = this.#log
    for (let seq = log.from; seq < log.end; seq++) {
      const entry = log.at(seq)
      if (entry !== undefined) this.#add(entry, seq)
      // Line 0 is the header.
      else if (seq > 0) this.damaged = seq
      if (seq === this.#settled - 1) this.#settleAll()
    }
    const tips = [...this.#tips.values()].map(({ seq, settled }) => ({ seq, settled }))
    return { tips, current: this.#current === NOWHERE ? null : this.#current }
  }

  /** A tip as it is kept, with the references to it that later entries may make. */
  toTip(seq: Seq, most: number): Tip {
    const log = this.#log
    const { id } = log.at(seq) as Entry
    const near = (this.#tips.get(seq) as FoundTip).near
      .filter((at) => log.find((log.at(at) as Entry).id) === at)
      .map((at) => (log.at(at) as Entry).id)
    return {
      seq,
      id,
      near: near.slice(-most),
      ...(near.length > most ? { lossy: true } : {}),
      ...(log.find(id) === seq ? {} : { repeated: true }),
    }
  }

  #add(entry: Entry, seq: Seq): void {
    const parent = this.#anchorAt(parentOf(this.#log, seq))
    if (isLeaving(entry)) this.#settle(entry, seq, parent)
    const content = isContent(entry.type)
    const at = content ? seq : parent
    this.#anchors[seq - this.#log.from] = at
    this.#current = at
    if (!content) {
      this.#tips.get(at)?.near.push(seq)
      return
    }
    this.#tips.delete(parent)
    const tip: FoundTip = { seq, near: [], settled: false }
    this.#tips.set(seq, tip)
    const same = this.#open.get(entry.id)
    if (same === undefined) this.#open.set(entry.id, [tip])
    else same.push(tip)
  }

  #settle(entry: Entry, seq: Seq, parent: Seq): void {
    const ids = settledIds(entry)
    if (ids !== undefined) {
      for (const id of ids) {
        for (const tip of this.#open.get(id) ?? []) tip.settled = true
        this.#open.delete(id)
      }
      return
    }
    const left = entry.type === "leaf" ? this.#current : this.#leftBy(entry, seq)
    const tip = left === parent ? undefined : this.#tips.get(left)
    if (tip !== undefined) tip.settled = true
  }

  /** The anchor of the leaf that an older branch summary says was left. */
  #leftBy(entry: Entry, seq: Seq): Seq {
    const { fromId } = entry as Readonly<Record<string, unknown>>
    if (typeof fromId !== "string" || fromId === "root") return NOWHERE
    return this.#anchorAt(this.#log.find(fromId, seq) ?? NOWHERE)
  }

  #anchorAt(seq: Seq): Seq {
    return seq < this.#log.from ? NOWHERE : (this.#anchors[seq - this.#log.from] as Seq)
  }

  #settleAll(): void {
    for (const tip of this.#tips.values()) if (tip.seq !== this.#current) tip.settled = true
  }
}
