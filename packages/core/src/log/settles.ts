/**
 * Which tips a new `leaf` or `branch_summary` settles: those that its writer leaves knowingly. Decided once, when the entry gets its place
 * at the end of the log in memory. If it is sent again behind another writer's lines, those were not known, and stay open.
 */
import type { Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { anchorOf, isContinued } from "./anchors.ts"
import type { OpenTip, Tips } from "./projected-tips.ts"

export interface Leaving {
  /** The writer's leaf so far. */
  readonly leaf: Seq | null
  /** The parent of the new entry. Must be loaded. */
  readonly target: Seq | null
  /** The open tips that the session has reported to its caller. */
  readonly reported: Iterable<OpenTip>
  /** Ids of tips that the caller names. */
  readonly named: readonly string[]
}

/** `log` ends where the new entry will be; `tips` are those of that end, if they are known. */
export function settlesOf(log: EntryLog, tips: Tips | undefined, o: Leaving): readonly string[] {
  const own = tipAt(log, tips, o.leaf)
  const target = tipAt(log, tips, o.target)
  const ids = new Set<string>()
  // The id would settle the later entry with that id too, which may be another writer's.
  if (own?.isMeant) ids.add(own.id)
  // The caller chooses between the tips. A step back to an inner entry chooses nothing.
  if (target !== undefined) for (const tip of o.reported) if (mayBeOpen(log, tips, tip)) ids.add(tip.id)
  for (const id of o.named) ids.add(id)
  if (target !== undefined) ids.delete(target.id)
  return [...ids]
}

/** The tip that an entry is anchored at; undefined if its anchor is an inner entry. What follows an entry is always loaded. */
function tipAt(log: EntryLog, tips: Tips | undefined, seq: Seq | null): LeftTip | undefined {
  const at = anchorOf(log, tips, seq)
  if (at === null) return undefined
  if (at < log.from) {
    const kept = tips?.tips.find((tip) => tip.seq === at)
    return kept && { id: kept.id, isMeant: kept.near.includes(kept.id) }
  }
  const { id } = log.at(at) as Entry
  return isContinued(log, at) ? undefined : { id, isMeant: log.find(id) === at }
}

interface LeftTip {
  readonly id: string
  /** No later entry has the same id. */
  readonly isMeant: boolean
}

/** A reported tip may be continued or settled since, or the log was replaced, and has it elsewhere. */
function mayBeOpen(log: EntryLog, tips: Tips | undefined, { seq, id }: OpenTip): boolean {
  if (tips?.tips.some((tip) => tip.seq === seq && tip.id === id) === true) return true
  const isKnown = tips !== undefined && tips.more === undefined
  return !isKnown && (seq < log.from || (log.at(seq)?.id === id && !isContinued(log, seq)))
}
