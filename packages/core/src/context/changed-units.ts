/** The units that were deleted, edited or shortened since a report, which has counted them as they were. */
import type { Message } from "../format/message.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { parentOf } from "../log/path.ts"
import { isObject } from "../format/shape.ts"
import type { Seq } from "../storage/contract.ts"
import { blocksOf } from "./content.ts"
import type { Change, MeasuredView } from "./changes.ts"
import type { ContextMessage, SelectedEntry } from "./types.ts"

/**
 * The changes of the path that a context was selected from; `start` is its compaction or reset, or -1. Reads nothing but the selection unless
 * something was deleted, edited or shortened.
 */
export function changesOf(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  start: Seq,
  view: MeasuredView,
  count: TokenCounter,
): readonly Change[] {
  const { messages, whole = messages, pruned = [], steps = [] } = view
  const isEdited = entries.some((selected) => selected.edit !== undefined)
  if (!isEdited && log.lastTombstone < 0 && pruned.length + steps.length === 0) return []
  const deletions = log.deletions(-1)
  const edited = entries.filter(({ edit }) => edit !== undefined)
  const changes: Change[] = []
  const seqs = new Map(
    pruned.length + edited.length + steps.length === 0 ? [] : entries.map(({ seq, entry }) => [entry.id, seq]),
  )
  /** Units that steps in force have taken off each message. */
  const taken = new Map<string, number>()
  for (const { entryId: id, before, after, at, until } of steps) {
    const units = count(before) - (after === undefined ? 0 : count(after))
    const place = seqs.get(id) ?? 0
    changes.push({ at, place, units })
    if (until === undefined) taken.set(id, (taken.get(id) ?? 0) + units)
    else changes.push({ at: until, place, units: -units })
  }
  if (pruned.length > 0 || edited.length > 0) {
    const [now, before] = [messages, whole].map((list) => unitsByEntry(list, count)) as [
      Map<string, number>,
      Map<string, number>,
    ]
    const lost = (id: string, units = 0): number => units - (now.get(id) ?? 0) - (taken.get(id) ?? 0)
    for (const { entryId: id, since } of pruned)
      changes.push({ at: seqs.get(since) ?? 0, place: seqs.get(id) ?? 0, units: lost(id, before.get(id)) })
    for (const { seq, entry, edit } of edited)
      changes.push({ at: edit?.seq ?? 0, place: seq, units: lost(entry.id, unitsOfEntry(entry["message"], count)) })
  }
  if (deletions.length > 0) {
    const path = pathOf(log, entries.at(-1)?.seq ?? -1, start)
    for (const [at, place] of deletions)
      if (path.has(place)) changes.push({ at, place, units: unitsOfEntry(log.at(place)?.["message"], count) })
  }
  return changes
}

function unitsByEntry(messages: readonly ContextMessage[], count: TokenCounter): Map<string, number> {
  const units = new Map<string, number>()
  for (const { entryId, message } of messages) units.set(entryId, (units.get(entryId) ?? 0) + count(message))
  return units
}

function unitsOfEntry(message: unknown, count: TokenCounter): number {
  return isObject(message) ? count({ ...message, content: blocksOf(message["content"]) ?? [] } as Message) : 0
}

/** The seqs of the path up to an entry, from where its context begins, with those of the deleted entries. */
function pathOf(log: EntryLog, leaf: Seq, start: Seq): ReadonlySet<Seq> {
  const kept = log.at(start)?.["firstKeptEntryId"]
  const first = typeof kept === "string" ? (log.find(kept, start) ?? start) : start
  const path = new Set<Seq>()
  for (let seq = leaf; seq >= Math.max(0, first); seq = parentOf(log, seq)) path.add(seq)
  return path
}
