/**
 * Finds summaries that still say what was deleted or edited after they were made, and the entries that a compaction covers. Pure; answers
 * `NeedsOlder` if that depends on lines that are not loaded.
 */
import { replacementOf } from "./content.ts"
import type { SelectedEntry } from "./types.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import { hasMessage } from "../format/entry-types.ts"
import { isObject } from "../format/shape.ts"
import { commonAncestor } from "../log/common-ancestor.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { isOlder, type NeedsOlder, OLDER, parentOf } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"

/** A summary of the context, and the entries that it still says although they were deleted or edited. */
export interface OutdatedSummary {
  readonly seq: Seq
  readonly entry: Entry
  /** Ids, in the order of the log. */
  readonly entries: readonly string[]
}

/** The outdated ones among the compactions and branch summaries of these entries, which are on the path to the leaf. */
export function outdatedSummaries(
  log: EntryLog,
  leaf: Seq,
  entries: readonly SelectedEntry[],
): readonly OutdatedSummary[] | NeedsOlder {
  const summaries = entries.filter(isSummary)
  const since = Math.min(...summaries.map(({ seq }) => seq))
  const changes = summaries.length === 0 ? [] : changesSince(log, leaf, since)
  if (isOlder(changes)) return changes
  const first = Math.min(...changes.map(({ target }) => target))
  const found: OutdatedSummary[] = []
  for (const { seq, entry, edit } of summaries) {
    // The editor of the summary of a branch has seen to it. An edit of a compaction has no effect.
    const madeAt = entry.type === "branch_summary" ? (edit?.seq ?? seq) : seq
    const later = changes.filter((change) => change.seq > madeAt)
    const covered = later.length === 0 ? NONE : coveredBy(log, seq, first)
    if (isOlder(covered)) return covered
    const seqs = later.flatMap(({ target }) => (covered.has(target) && wasVisible(log, target, seq) ? [target] : []))
    const ids = [...storedIds(entry), ...seqs.toSorted((a, b) => a - b).map((at) => (log.at(at) as Entry).id)]
    if (ids.length > 0) found.push({ seq, entry, entries: [...new Set(ids)] })
  }
  return found
}

const NONE: ReadonlySet<Seq> = new Set()

export function summarizedDiagnostic({ seq, entry: { id, type }, entries }: OutdatedSummary): Diagnostic {
  const what = type === "compaction" ? "compaction" : "branch summary"
  const message = `The ${what} ${id} still says what was deleted or edited after it was made: ${entries.join(", ")}. Summarize it anew from what is left: compact(session, { anew: true }).`
  return { code: "summarized", seq, entryId: id, entries, message }
}

/** The entries that a summary names which was built on an outdated one. */
function storedIds({ type, outdated, details }: Entry): readonly string[] {
  const list: unknown = type === "compaction" ? outdated : isObject(details) ? details["outdated"] : undefined
  return Array.isArray(list) ? list.filter((id) => typeof id === "string") : []
}

/** A summary that contexts show: one that is no text is left out, and a branch's summary can be edited away. */
function isSummary({ entry: { type, summary }, edit }: SelectedEntry): boolean {
  if (typeof summary !== "string") return false
  if (type === "compaction") return true
  return type === "branch_summary" && (edit === undefined || replacementOf(edit) !== null)
}

interface Change {
  readonly seq: Seq
  readonly target: Seq
}

/** The deletions on every branch, and the edits on the path, behind a line, whose target is in the log. */
function changesSince(log: EntryLog, leaf: Seq, since: Seq): readonly Change[] | NeedsOlder {
  const changes: Change[] = []
  const onPath = new Set<Seq>()
  for (let seq = leaf; seq > since; seq = parentOf(log, seq)) onPath.add(seq)
  for (let seq = since + 1; seq < log.end; seq++) {
    const entry = log.at(seq)
    const isEdit = entry?.type === "context_edit" && onPath.has(seq) && !log.deleted.has(seq)
    if (!(isEdit && replacementOf(entry) !== undefined) && entry?.type !== "tombstone") continue
    const { targetId } = entry as Entry & { readonly targetId?: unknown }
    const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
    if (target !== undefined) changes.push({ seq, target })
    else if (typeof targetId === "string" && !log.complete) return { older: true }
  }
  return changes
}

/** The entries from `first` on that a summary covers, with those of the branches whose summaries it covers. */
function coveredBy(log: EntryLog, summary: Seq, first: Seq): ReadonlySet<Seq> | NeedsOlder {
  const entry = log.at(summary) as Entry
  const isBranch = entry.type === "branch_summary"
  const path = isBranch ? branchOf(log, summary) : pathBefore(log, summary)
  if (isOlder(path)) return path
  const covered = new Set<Seq>()
  // The question that a compaction includes is not in its summary.
  const included = !isBranch && isObject(entry["question"]) ? entry["question"]["id"] : undefined
  for (let seq = path.from; seq > path.to; seq = parentOf(log, seq)) {
    if (seq < first) break
    const at = log.at(seq) as Entry
    if (at.type === "reset_boundary" && !log.deleted.has(seq)) break
    if (hasText(at) && at.id !== included) covered.add(seq)
    if (at.type === "branch_summary" && !log.deleted.has(seq)) {
      const nested = coveredBy(log, seq, first)
      if (isOlder(nested)) return nested
      for (const one of nested) covered.add(one)
    }
    if (seq > first && parentOf(log, seq) === OLDER) return { older: true }
  }
  return covered
}

/** A path from one entry back to another, which does not belong to it. */
interface Stretch {
  readonly from: Seq
  readonly to: Seq
}

/** The range that a compaction covers ends before its first kept entry. */
function pathBefore(log: EntryLog, compaction: Seq): Stretch | NeedsOlder {
  const { firstKeptEntryId: id, id: own } = log.at(compaction) as Entry
  if (typeof id === "string" && id !== own && log.find(id, compaction) === undefined && !log.complete)
    return { older: true }
  const from = parentOf(log, keptFrom(log, compaction))
  return from === OLDER ? { older: true } : { from, to: -1 }
}

/** The branch that a branch summary is of: from its end to the last entry in common with the path of the summary. */
export function branchOf(log: EntryLog, summary: Seq): Stretch | NeedsOlder {
  const { fromId } = log.at(summary) as Entry & { readonly fromId?: unknown }
  const from = typeof fromId === "string" ? log.find(fromId, summary) : undefined
  if (from === undefined) return log.complete || fromId === "root" ? { from: -1, to: -1 } : { older: true }
  const parent = parentOf(log, summary)
  const to = parent < 0 ? parent : commonAncestor(log, from, parent)
  return to === OLDER ? { older: true } : { from, to }
}

function hasText({ type, message }: Entry): boolean {
  if (type === "message") return !(isObject(message) && message["role"] === "system")
  return hasMessage(type)
}

/** Whether the summary can have the entry: it was not deleted, or edited away on the path, before that was made. */
function wasVisible(log: EntryLog, target: Seq, summary: Seq): boolean {
  const { id } = log.at(target) as Entry
  for (let seq = target + 1; seq < summary; seq++) {
    const entry = log.at(seq)
    if (entry?.["targetId"] === id && entry.type === "tombstone") return false
  }
  for (let seq = summary; seq > target; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (entry["targetId"] !== id || entry.type !== "context_edit" || log.deleted.has(seq)) continue
    return replacementOf(entry) !== null
  }
  return true
}

/**
 * The entries on the path before `end`, back to the last reset or to `stop`, as the context would have them without a compaction: without
 * deleted ones, with `edits`, and the latest ones on the path of the leaf. Those met are added to `edits`.
 */
export function uncompactedEntries(
  log: EntryLog,
  leaf: Seq,
  { end, stop = -1, edits = new Map() }: { readonly end: Seq; readonly stop?: Seq; readonly edits?: Map<Seq, Entry> },
): readonly SelectedEntry[] | NeedsOlder {
  const members: SelectedEntry[] = []
  let seq = leaf
  for (; seq > stop; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (log.deleted.has(seq)) continue
    if (entry.type === "reset_boundary" && seq < end) break
    if (entry.type === "context_edit") {
      const { targetId } = entry as Entry & { readonly targetId?: unknown }
      const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
      if (target !== undefined && replacementOf(entry) !== undefined && !edits.has(target)) edits.set(target, entry)
    } else if (seq < end && entry.type !== "compaction") members.push({ seq, entry, edit: edits.get(seq) })
  }
  return seq === OLDER ? { older: true } : members.reverse()
}

/** Where the kept part of a compaction begins: the compaction itself if it keeps nothing before it, as if its first kept entry is off its path. */
export function keptFrom(log: EntryLog, compaction: Seq): Seq {
  const { firstKeptEntryId: id } = log.at(compaction) as Entry
  const first = typeof id === "string" ? log.find(id, compaction) : undefined
  if (first === undefined) return compaction
  let seq = compaction
  while (seq > first) seq = parentOf(log, seq)
  return seq === first ? first : compaction
}
