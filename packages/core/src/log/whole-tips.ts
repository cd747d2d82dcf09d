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
  readonly tips: readonly FoundTip[]
  /** The tip that the last entry is anchored at, settled or not. */
  readonly current: Seq | null
  /** The last line that is not an entry. */
  readonly damaged: Seq | undefined
}

interface FoundTip {
  readonly seq: Seq
  /** Seqs of the entries anchored here that are not content. */
  readonly near: Seq[]
  settled: boolean
}

/** No content is among the ancestors that are held. */
const NOWHERE = -1

/** `settled`: see `settledLines`. */
export function wholeTips(log: EntryLog, settled: number): WholeTips {
  const { from } = log
  /** The anchor of each held entry. */
  const anchors = new Int32Array(log.end - from)
  const anchorAt = (seq: Seq): Seq => (seq < from ? NOWHERE : (anchors[seq - from] as Seq))
  const tips = new Map<Seq, FoundTip>()
  /** Tips that are not settled by name, by their ids. */
  const named = new Map<string, FoundTip[]>()
  let current: Seq = NOWHERE
  let damaged: Seq | undefined
  for (let seq = from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined) {
      const parent = anchorAt(parentOf(log, seq))
      if (isLeaving(entry)) {
        const ids = settledIds(entry)
        for (const id of ids ?? []) {
          for (const tip of named.get(id) ?? []) tip.settled = true
          named.delete(id)
        }
        const left = ids === undefined ? leftBy(log, entry, seq, current, anchorAt) : NOWHERE
        const tip = left === parent ? undefined : tips.get(left)
        if (tip !== undefined) tip.settled = true
      }
      current = isContent(entry.type) ? seq : parent
      anchors[seq - from] = current
      if (current !== seq) tips.get(parent)?.near.push(seq)
      else {
        const tip: FoundTip = { seq, near: [], settled: false }
        tips.delete(parent)
        tips.set(seq, tip)
        const same = named.get(entry.id)
        if (same === undefined) named.set(entry.id, [tip])
        else same.push(tip)
      }
      // Line 0 is the header.
    } else if (seq > 0) damaged = seq
    if (seq === settled - 1) for (const tip of tips.values()) tip.settled ||= tip.seq !== current
  }
  return { tips: [...tips.values()], current: current === NOWHERE ? null : current, damaged }
}

/** The anchor of the leaf that an older line left, which does not say what it settles. */
function leftBy(log: EntryLog, entry: Entry, seq: Seq, current: Seq, anchorAt: (seq: Seq) => Seq): Seq {
  if (entry.type === "leaf") return current
  const { fromId } = entry as Readonly<Record<string, unknown>>
  if (typeof fromId !== "string" || fromId === "root") return NOWHERE
  return anchorAt(log.find(fromId, seq) ?? NOWHERE)
}

/** The tips in the form that `projectTips` continues. */
export function tipsOfLog(log: EntryLog, settled: number, limits: TipLimits = TIP_LIMITS): Tips {
  const { tips, current, damaged } = wholeTips(log, settled)
  const open = tips.filter((tip) => !tip.settled)
  const kept = open.map((tip) => toTip(log, tip, limits.near))
  const isKept = open.some(({ seq }) => seq === current)
  const recent = damaged !== undefined && log.end - damaged <= limits.bridge ? damaged : undefined
  return capped(kept, isKept ? current : null, { damaged: recent }, limits)
}

/** A tip as it is kept, with the references to it that later entries may make. */
function toTip(log: EntryLog, { seq, near }: FoundTip, most: number): Tip {
  const idAt = (at: Seq): string => (log.at(at) as Entry).id
  const isMeant = (at: Seq): boolean => log.find(idAt(at)) === at
  const ids = near.filter(isMeant).map(idAt)
  return {
    seq,
    id: idAt(seq),
    near: ids.slice(-most),
    ...(ids.length > most ? { lossy: true } : {}),
    ...(isMeant(seq) ? {} : { repeated: true }),
  }
}
