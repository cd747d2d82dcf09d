/**
 * The anchors of the entries that are loaded, and which of them later content continues; see `tips.ts`. They are found in one pass, which
 * goes on with the entries that came since: a session may branch as often as it appends.
 */
import type { Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { type Tips, tipNear } from "./projected-tips.ts"
import { OLDER, parentOf } from "./path.ts"
import { isContent, NOWHERE } from "./tips.ts"

/** Seq of the anchor of an entry. Null if the entry has none, or if its anchor is not loaded and no kept tip. */
export function anchorOf(log: EntryLog, tips: Tips | undefined, seq: Seq | null): Seq | null {
  const at = seq === null ? NOWHERE : (anchorsIn(log)[seq - log.from] as Seq)
  if (at >= NOWHERE) return at < 0 ? null : at
  return tipNear(tips?.tips ?? [], (log.at(OLDER - at) as Entry).parentId as string)?.seq ?? null
}

/** By position: the anchor, {@link NOWHERE} or, if the way to it leaves the loaded lines at an entry, `OLDER` minus the seq of that. */
export function anchorsIn(log: EntryLog): readonly Seq[] {
  const { anchors, continued, from } = log
  for (let seq = from + anchors.length; seq < log.end; seq++) {
    const entry = log.at(seq)
    const parent = parentOf(log, seq)
    const at = parent === OLDER ? OLDER - seq : (anchors[parent - from] ?? NOWHERE)
    const isAnchor = entry !== undefined && isContent(entry.type)
    if (isAnchor && at >= 0 && !isContinued(log, at)) continued[at - from] = seq
    anchors.push(isAnchor ? seq : at)
  }
  return anchors
}

/** Whether later content continues the anchor of an entry. {@link anchorsIn} goes first; what it has found may have been removed since. */
export function isContinued(log: EntryLog, seq: Seq): boolean {
  const { anchors, continued, from } = log
  const by = continued[seq - from]
  return by !== undefined && anchors[by - from] === by && anchors[parentOf(log, by) - from] === seq
}
