/**
 * Whether a log ends in two turns that were written at once. Who leaves a branch knowingly says so by an entry (`leaf`,
 * `branch_summary`); where conversation stands off the leaf's path and nothing after it on the path says so, it was written by
 * somebody else at the same time, and must not hide behind "the last line is the leaf".
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import { ANNOTATION_TYPES } from "../format/records.ts"
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { OLDER, defaultLeaf, parentOf } from "./path.ts"

/**
 * Looks at the held end of the log, but not at its first `imported` lines, whose branches were made elsewhere. "older": the path
 * goes on further back than that, so that what stands before its held beginning may be part of it or not.
 */
export function divergenceOf(log: EntryLog, imported: Seq): Diagnostic | "older" | undefined {
  const leaf = defaultLeaf(log)
  if (leaf === undefined || leaf === null) return undefined
  let seq: Seq = leaf
  while (seq >= imported && !isChoice(log.at(seq) as Entry)) {
    const parent = parentOf(log, seq)
    // What stands between an entry and its parent is off the path; parents stand ever further back.
    const other = lastTalk(log, Math.max(log.from, imported, parent + 1), seq)
    // Beyond what is held it may be on the path, where that goes on there.
    if (other !== undefined) return parent === OLDER ? "older" : diverged(log, leaf, other)
    seq = parent
  }
  return undefined
}

function diverged(log: EntryLog, leaf: Seq, other: Seq): Diagnostic {
  const ids = { leaf: (log.at(leaf) as Entry).id, otherLeaf: (log.at(other) as Entry).id }
  const message = `Two writers continued this session at once: the log ends in the leaves ${ids.leaf}, which is the current one, and ${ids.otherLeaf}. Branch to the one to go on with.`
  return { code: "diverged", seq: other, ...ids, message }
}

/** The last conversation entry of a range. */
function lastTalk(log: EntryLog, from: Seq, to: Seq): Seq | undefined {
  for (let seq = to - 1; seq >= from; seq--) {
    const entry = log.at(seq)
    if (entry !== undefined && !ANNOTATION_TYPES.has(entry.type)) return seq
  }
  return undefined
}

function isChoice(entry: Entry): boolean {
  return entry.type === "leaf" || entry.type === "branch_summary"
}
