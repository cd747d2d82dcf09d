/**
 * Detects that two writers appended at once. A writer that leaves a branch appends a `leaf` or `branch_summary`. Conversation entries off
 * the leaf's path without such an entry after them come from a concurrent writer, and must not be lost because the last line is the leaf.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import { ANNOTATION_TYPES, type Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { OLDER, defaultLeaf, parentOf } from "./path.ts"

/**
 * Checks the held end of the log, without its first `imported` lines, whose branches another program made. "older": an entry that may
 * be off the path was found, but the path continues in lines that are not held.
 */
export function divergenceOf(log: EntryLog, imported: Seq): Diagnostic | "older" | undefined {
  const leaf = defaultLeaf(log)
  if (leaf === undefined || leaf === null) return undefined
  let seq: Seq = leaf
  while (seq >= imported && !isChoice(log.at(seq) as Entry)) {
    const parent = parentOf(log, seq)
    // Entries between an entry and its parent are off the path.
    const other = lastConversation(log, Math.max(log.from, imported, parent + 1), seq)
    // If the parent is not held, the entry may be on the path.
    if (other !== undefined) return parent === OLDER ? "older" : diverged(log, leaf, other)
    seq = parent
  }
  return undefined
}

function diverged(log: EntryLog, leaf: Seq, other: Seq): Diagnostic {
  const ids = { leaf: (log.at(leaf) as Entry).id, otherLeaf: (log.at(other) as Entry).id }
  const message = `Two writers continued this session at the same time: the log has two leaves, ${ids.leaf} (the current one) and ${ids.otherLeaf}. Branch to the one to continue from.`
  return { code: "diverged", seq: other, ...ids, message }
}

/** Seq of the last conversation entry of a range. */
function lastConversation(log: EntryLog, from: Seq, to: Seq): Seq | undefined {
  for (let seq = to - 1; seq >= from; seq--) {
    const entry = log.at(seq)
    if (entry !== undefined && !ANNOTATION_TYPES.has(entry.type)) return seq
  }
  return undefined
}

function isChoice(entry: Entry): boolean {
  return entry.type === "leaf" || entry.type === "branch_summary"
}
