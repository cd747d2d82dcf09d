/**
 * Whether a log ends in two turns that were written at once. Who leaves a branch knowingly says so by an entry (`leaf`,
 * `branch_summary`); where conversation stands off the leaf's path and nothing after it on the path says so, it was written by
 * somebody else at the same time, and must not hide behind "the last line is the leaf".
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import { SIDE_ENTRY_TYPES } from "../format/records.ts"
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { defaultLeaf, parentOf } from "./path.ts"

/** Looks at the held end of the log, but not at its first `imported` lines, whose branches were made elsewhere. */
export function divergenceOf(log: EntryLog, imported: Seq): Diagnostic | undefined {
  const leaf = defaultLeaf(log)
  if (leaf === undefined || leaf === null) return undefined
  const path = new Set<Seq>()
  for (let seq: Seq = leaf; seq >= 0; seq = parentOf(log, seq)) path.add(seq)
  const other = lastTalkOff(log, path, imported)
  if (other === undefined) return undefined
  for (const seq of path) if (seq > other && isChoice(log.at(seq) as Entry)) return undefined
  const ids = { leaf: (log.at(leaf) as Entry).id, otherLeaf: (log.at(other) as Entry).id }
  const message = `Two writers continued this session at once: the log ends in the leaves ${ids.leaf}, which is the current one, and ${ids.otherLeaf}. Branch to the one to go on with.`
  return { code: "diverged", seq: other, ...ids, message }
}

/** The last conversation entry that is not on the path. */
function lastTalkOff(log: EntryLog, path: ReadonlySet<Seq>, imported: Seq): Seq | undefined {
  for (let seq = log.end - 1; seq >= Math.max(log.from, imported); seq--) {
    const entry = log.at(seq)
    if (entry !== undefined && !path.has(seq) && !SIDE_ENTRY_TYPES.has(entry.type)) return seq
  }
  return undefined
}

function isChoice(entry: Entry): boolean {
  return entry.type === "leaf" || entry.type === "branch_summary"
}
