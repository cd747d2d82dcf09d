import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentOf } from "./path.ts"

/** The last entry on both paths. `ROOT`: there is none; `OLDER`: it is not loaded. */
export function commonAncestor(log: EntryLog, one: Seq, other: Seq): Seq {
  let a = one
  let b = other
  while (a !== b) {
    // A parent precedes its children, so the later of the two cannot be an ancestor of the other.
    if (a > b) a = parentOf(log, a)
    else b = parentOf(log, b)
    if (a < 0 || b < 0) return Math.min(a, b)
  }
  return a
}
