/**
 * The tips of a log that is loaded, whole or from some line on: exact, and without a limit. See `tips.ts`. If the log is loaded from some line
 * on, they are the tips among the loaded lines; a parent that is not loaded counts as an inner entry.
 */
import type { Seq } from "../storage/contract.ts"
import { anchorsIn } from "./anchors.ts"
import type { EntryLog } from "./entry-log.ts"
import { doubtAfter, TIP_LIMITS, type TipLimits, type Tips, toKept } from "./projected-tips.ts"
import { parentOf } from "./path.ts"
import {
  follow,
  followedOf,
  type FollowedTip,
  type FollowedTips,
  leftBy,
  NOWHERE,
  settleNamed,
  settleOthers,
} from "./tips.ts"

/** Every tip, oldest first. `settled`: see `settledLines`. */
export function wholeTips(log: EntryLog, settled: number): readonly FollowedTip[] {
  return [...followLog(log, settled).all.tips.values()]
}

/** The tips in the form that `projectTips` continues. */
export function tipsOfLog(log: EntryLog, settled: number, limits: TipLimits = TIP_LIMITS): Tips {
  const { all, anchorAt, damaged } = followLog(log, settled)
  // An id means its last entry.
  for (const tip of all.tips.values())
    if (!tip.settled) tip.near = tip.near.filter((id) => anchorAt(log.find(id)) === tip.seq)
  const doubt = damaged === undefined ? 0 : doubtAfter(damaged, limits)
  return toKept(all, { doubt, end: log.end }, limits)
}

interface FollowedLog {
  readonly all: FollowedTips
  readonly anchorAt: (seq: Seq | undefined) => Seq
  /** The last line that is not an entry. */
  readonly damaged: Seq | undefined
}

function followLog(log: EntryLog, settled: number): FollowedLog {
  const { from } = log
  const anchors = anchorsIn(log)
  const anchorAt = (seq: Seq = NOWHERE): Seq => Math.max(NOWHERE, anchors[seq - from] ?? NOWHERE)
  const all = followedOf([], NOWHERE)
  let damaged: Seq | undefined
  for (let seq = from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined) {
      const left = leftBy(entry, all.current, (id) => anchorAt(log.find(id, seq)))
      settleNamed(all, entry)
      follow(all, entry, seq, anchorAt(parentOf(log, seq)), left)
      // Line 0 is the header.
    } else if (seq > 0) damaged = seq
    if (seq === settled - 1) settleOthers(all)
  }
  return { all, anchorAt, damaged }
}
