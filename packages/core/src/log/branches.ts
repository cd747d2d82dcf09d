/** The branches of a log: one for each tip, see `tips.ts`. */
import type { Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentOf } from "./path.ts"
import { anchorOf } from "./anchors.ts"
import { wholeTips } from "./tips-of-log.ts"

/** A branch of the conversation, named by its last message. It is open if it is neither settled nor current. */
export interface Branch {
  /** Id of the last message, or other entry of the conversation. `branch(id)` continues the branch, `settle([id])` settles it. */
  readonly id: string
  readonly seq: Seq
  /** The timestamp of the entry `id`. ISO 8601, as it is stored. */
  readonly timestamp: string
  /** Id of the nearest entry on the current path; `id` itself if that is on it. Null if the branch has a root of its own. */
  readonly fork: string | null
  /** The number of messages after `fork` that are not deleted. */
  readonly messages: number
  /** A writer has left it knowingly, or settled it by name. */
  readonly settled: boolean
  /** The session's leaf continues it. */
  readonly current: boolean
}

/** Newest first. The log must be whole. `settled`: see `settledLines`; `leaf`: of the session. */
export function branchesOf(log: EntryLog, settled: number, leaf: Seq | null): readonly Branch[] {
  const tips = wholeTips(log, settled)
  const current = anchorOf(log, undefined, leaf)
  // An import that is not complete: the branches of the other system are settled at its end.
  const isIncomplete = log.end < settled
  const { forks, messages } = measure(log, leaf)
  const branches = tips.map((tip): Branch => {
    const { id, timestamp } = log.at(tip.seq) as Entry
    const fork = log.at(forks[tip.seq] as Seq)?.id ?? null
    return {
      id,
      seq: tip.seq,
      timestamp,
      fork,
      messages: messages[tip.seq] as number,
      settled: tip.settled || isIncomplete,
      current: tip.seq === current,
    }
  })
  return branches.reverse()
}

/** For each entry, the nearest entry on the leaf's path, and the number of messages after that. In one pass: parents come first. */
function measure(log: EntryLog, leaf: Seq | null): { readonly forks: Int32Array; readonly messages: Int32Array } {
  const forks = new Int32Array(log.end).fill(-1)
  const messages = new Int32Array(log.end)
  for (let seq = leaf ?? -1; seq >= 0; seq = parentOf(log, seq)) forks[seq] = seq
  const { deleted } = log
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined || forks[seq] === seq) continue
    const parent = parentOf(log, seq)
    if (parent >= 0) {
      forks[seq] = forks[parent] as Seq
      messages[seq] = messages[parent] as number
    }
    if (entry.type === "message" && !deleted.has(seq)) messages[seq] = (messages[seq] as number) + 1
  }
  return { forks, messages }
}
