/** What of a log goes into a fork, and what changes in it. Pure. */
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { pathTo } from "../log/path.ts"

export interface ForkedEntry {
  /** Its place in the source. */
  readonly from: Seq
  /** Its place in the fork. */
  readonly seq: Seq
  /** Its fields that have other values in the fork, `seq` apart. Most entries have none. */
  readonly changes?: Readonly<Record<string, unknown>>
}

/**
 * The path to the leaf and what was said of it from elsewhere (tombstones, labels, the title and the metadata in force), in the
 * order of the source. That order keeps the meaning of every reference: the nearest entry before it with an id is the same one as
 * long as that one is there. What was said of entries off the path stays behind.
 */
export function planFork(log: EntryLog, leaf: Seq | null): readonly ForkedEntry[] {
  const path = leaf === null ? [] : pathTo(log, leaf).seqs
  const onPath = new Set(path)
  const chosen = [...path, ...sayings(log, onPath)].sort((a, b) => a - b)
  const places = new Map<Seq, Seq>()
  const named = namedByPlace(log, chosen, onPath)
  const plan: ForkedEntry[] = []
  /** The path's last entry so far; after the leaf, the last entry. */
  let parent: Parent = { id: null, seq: undefined }
  for (const from of chosen) {
    const entry = log.at(from) as Entry
    const target = targetOf(log, entry, from)
    const isSilent = target !== undefined && !(onPath.has(target) && places.has(target))
    if (isSilent && !named.has(from)) continue
    const seq = plan.length + 1
    const moved = entry.parentId === parent.id ? {} : { parentId: parent.id }
    const silenced = isSilent ? { targetId: undefined } : {}
    const about = isSilent ? undefined : target
    const hints = hintChanges(log, entry, { from, seq, target: about, parent }, { path, onPath, places })
    const changes = { ...moved, ...silenced, ...hints }
    plan.push({ from, seq, ...(Object.keys(changes).length === 0 ? {} : { changes }) })
    places.set(from, seq)
    if (onPath.has(from) || from > (leaf ?? -1)) parent = { id: entry.id, seq }
  }
  return plan
}

interface Parent {
  readonly id: string | null
  /** In the fork. */
  readonly seq: Seq | undefined
}

/**
 * First kept entries that stay although what they speak of stays behind; then they speak of nothing, which `verify` tells of. Only where
 * ids are given twice: else a compaction may name the one that comes next, but the id of that one might mean another entry by then.
 */
function namedByPlace(log: EntryLog, chosen: readonly Seq[], onPath: ReadonlySet<Seq>): ReadonlySet<Seq> {
  const ids = new Set(chosen.map((seq) => log.at(seq)?.id))
  if (ids.size === chosen.length) return new Set()
  const kept = chosen.flatMap((seq) => firstKeptOf(log, log.at(seq) as Entry, seq) ?? [])
  return new Set(kept.filter((seq) => onPath.has(seq)))
}

/** Entries off the path that concern it, or the whole session. */
function sayings(log: EntryLog, onPath: ReadonlySet<Seq>): readonly Seq[] {
  const tombstones: Seq[] = []
  /** The last of each kind; what counts is what was said last. */
  const last = new Map<string, Seq>()
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const fields = entry as Readonly<Record<string, unknown>>
    if (entry.type === "title_change") {
      const { title, source } = fields
      if (title === null || typeof title === "string") last.set(`title ${source === "auto" ? "auto" : "user"}`, seq)
    } else if (entry.type === "metadata") {
      if (fields["value"] !== undefined) last.set(`metadata ${String(fields["key"])}`, seq)
    } else if (entry.type === "tombstone" || entry.type === "label") {
      const target = targetOf(log, entry, seq)
      if (target === undefined || !onPath.has(target)) continue
      if (entry.type === "label") last.set(`label ${target}`, seq)
      else if (!onPath.has(seq)) tombstones.push(seq)
    }
  }
  return [...tombstones, ...[...last.values()].filter((seq) => !onPath.has(seq))]
}

const NOWHERE = -1

/** The entry that this one is about; {@link NOWHERE} where it is missing, undefined where it is about none. */
function targetOf(log: EntryLog, entry: Entry, seq: Seq): Seq | undefined {
  if (entry.type !== "tombstone" && entry.type !== "label" && entry.type !== "context_edit") return undefined
  const { targetId } = entry as Readonly<Record<string, unknown>>
  return typeof targetId === "string" ? (log.find(targetId, seq) ?? NOWHERE) : NOWHERE
}

interface Place {
  readonly from: Seq
  readonly seq: Seq
  readonly target: Seq | undefined
  readonly parent: Parent
}

interface Chosen {
  readonly path: readonly Seq[]
  readonly onPath: ReadonlySet<Seq>
  /** Places in the fork by places in the source. */
  readonly places: ReadonlyMap<Seq, Seq>
}

/** Where references point to in the fork. A leaf's target is its parent. */
function hintChanges(log: EntryLog, entry: Entry, place: Place, chosen: Chosen): Readonly<Record<string, unknown>> {
  if (entry.type === "compaction") return keptChanges(log, entry, place, chosen)
  const { targetSeq } = entry as Readonly<Record<string, unknown>>
  const target = entry.type === "leaf" ? place.parent.seq : chosen.places.get(place.target ?? NOWHERE)
  return targetSeq === undefined || targetSeq === target ? {} : { targetSeq: target }
}

/** Where nothing of what a compaction says it keeps is there, it keeps nothing, as in the source. */
function keptChanges(
  log: EntryLog,
  entry: Entry,
  { from, seq }: Place,
  { path, onPath, places }: Chosen,
): Record<string, unknown> {
  const { firstKeptEntryId, firstKeptSeq } = entry as Readonly<Record<string, unknown>>
  const source = firstKeptOf(log, entry, from)
  // The first kept entry may be one that stays behind: then the next one is the first.
  const kept =
    source !== undefined && onPath.has(source)
      ? path.find((at) => at >= source && at < from && places.has(at))
      : undefined
  const id = kept === undefined ? entry.id : (log.at(kept) as Entry).id
  const at = kept === undefined ? seq : places.get(kept)
  return {
    ...(id === firstKeptEntryId ? {} : { firstKeptEntryId: id }),
    ...(at === firstKeptSeq ? {} : { firstKeptSeq: at }),
  }
}

/** Undefined where it keeps nothing, or is no compaction. */
function firstKeptOf(log: EntryLog, entry: Entry, seq: Seq): Seq | undefined {
  if (entry.type !== "compaction") return undefined
  const { firstKeptEntryId: id } = entry as Readonly<Record<string, unknown>>
  return typeof id === "string" && id !== entry.id ? log.find(id, seq) : undefined
}
