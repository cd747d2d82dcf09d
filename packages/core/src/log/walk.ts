/** Walks of whole logs and whole paths, which only the calls on whole sessions take. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentOf, ROOT } from "./path.ts"

/** The parent of each seq of a whole log, as {@link parentOf} gives it; {@link ROOT} for a line that is not an entry. */
export function parentsOf(log: EntryLog): Seq[] {
  const parents: Seq[] = []
  for (let seq = 0; seq < log.end; seq++) parents.push(parentOf(log, seq))
  return parents
}

/** The diagnostic for an entry whose parent is missing or after it. Undefined unless the log is complete. */
export function parentDiagnostic(log: EntryLog, seq: Seq): Diagnostic | undefined {
  const found: Diagnostic[] = []
  parentOf(log, seq, found)
  return found[0]
}

export interface Path {
  /** From the root (or the oldest loaded entry on it) to the leaf. */
  readonly seqs: readonly Seq[]
  /** False: the path continues in lines that are not loaded. */
  readonly reachesRoot: boolean
}

export function pathTo(log: EntryLog, leaf: Seq): Path {
  const seqs: Seq[] = []
  let seq = leaf
  for (; seq >= 0; seq = parentOf(log, seq)) seqs.push(seq)
  return { seqs: seqs.reverse(), reachesRoot: seq === ROOT }
}
