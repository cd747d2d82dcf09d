/** Selects the entries of a log that go into a fork, and the fields that change in them. Pure. */
import type { Entry } from "../../format/entry.ts"
import { namesTarget } from "../../format/entry-types.ts"
import { hintOf } from "../../format/hints.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { pathTo } from "../../log/walk.ts"
import { replaces, type WriteTime, writeTimeOf } from "../../log/last-writer-wins.ts"
import { kindOf } from "../older/in-force.ts"

export interface ForkedEntry {
  /** Seq in the source. */
  readonly from: Seq
  /** Seq in the fork. */
  readonly seq: Seq
  /** The fields with other values in the fork, apart from `seq`. Undefined for most entries. */
  readonly changes?: Readonly<Record<string, unknown>>
}

/**
 * Selects the path to the leaf, its annotations from other branches (tombstones, labels, and the starts of its tool calls, which may be
 * anywhere behind their message), and the title and metadata in force, in the order of the source. In that order each reference keeps its meaning, the nearest earlier entry with an id, as long as that
 * entry is selected. Annotations of entries off the path are left out.
 */
export function planFork(log: EntryLog, leaf: Seq | null): readonly ForkedEntry[] {
  const path = leaf === null ? [] : pathTo(log, leaf).seqs
  const onPath = new Set(path)
  const selected = [...path, ...annotationsOf(log, onPath)].sort((a, b) => a - b)
  const keptWithoutTarget = firstKeptWithRepeatedIds(log, selected, onPath)
  /** Seqs in the fork by seqs in the source. */
  const positions = new Map<Seq, Seq>()
  const plan: ForkedEntry[] = []
  /** The last planned entry of the path; behind the leaf, the last planned entry. */
  let parent: { readonly id: string | null; readonly seq: Seq | undefined } = { id: null, seq: undefined }
  for (const from of selected) {
    const entry = log.at(from) as Entry
    const target = targetOf(log, entry, from)
    const targetSeq = target !== undefined && onPath.has(target) ? positions.get(target) : undefined
    const lostTarget = target !== undefined && targetSeq === undefined
    if (lostTarget && !keptWithoutTarget.has(from)) continue
    const seq = plan.length + 1
    positions.set(from, seq)
    const fields = {
      parentId: parent.id,
      ...(lostTarget ? { targetId: undefined } : {}),
      ...(entry.type === "compaction"
        ? firstKeptFields(log, entry, { path, onPath, positions })
        : // The target of a `leaf` entry is its parent.
          hintOf(entry) !== undefined &&
          entry["targetSeq"] !== undefined && { targetSeq: entry.type === "leaf" ? parent.seq : targetSeq }),
    }
    const changes = Object.entries(fields).filter(([key, value]) => entry[key] !== value)
    plan.push({ from, seq, ...(changes.length === 0 ? {} : { changes: Object.fromEntries(changes) }) })
    if (onPath.has(from) || from > (leaf ?? -1)) parent = { id: entry.id, seq }
  }
  return plan
}

/**
 * First kept entries of compactions, if ids repeat among the selected entries; empty otherwise. They stay in the fork even if
 * their target does not; then they have no target, which `verify` reports. Without repeated ids a compaction can name the next
 * entry instead; with repeated ids, that entry's id may refer to another entry.
 */
function firstKeptWithRepeatedIds(log: EntryLog, selected: readonly Seq[], onPath: ReadonlySet<Seq>): ReadonlySet<Seq> {
  const ids = new Set(selected.map((seq) => log.at(seq)?.id))
  if (ids.size === selected.length) return new Set()
  const kept = selected.flatMap((seq) => firstKeptOf(log, log.at(seq) as Entry, seq) ?? [])
  return new Set(kept.filter((seq) => onPath.has(seq)))
}

/** Entries off the path that annotate an entry on it, or the whole session. */
function annotationsOf(log: EntryLog, onPath: ReadonlySet<Seq>): readonly Seq[] {
  const always: Seq[] = []
  /** The annotation in force of each kind. */
  const inForce = new Map<string, { readonly seq: Seq; readonly writeTime: WriteTime }>()
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    const target = entry && targetOf(log, entry, seq)
    if (entry === undefined || (target !== undefined && !onPath.has(target))) continue
    if ((entry.type === "tombstone" || entry.type === "tool_start") && !onPath.has(seq)) always.push(seq)
    const kind = kindOf(log, entry)
    const writeTime = writeTimeOf(entry)
    if (kind !== undefined && replaces(writeTime, inForce.get(kind)?.writeTime)) inForce.set(kind, { seq, writeTime })
  }
  const seqs = [...inForce.values()].map(({ seq }) => seq)
  return [...always, ...seqs.filter((seq) => !onPath.has(seq))]
}

/** The target of an entry whose `targetId` names no entry before it. */
const MISSING = -1

/** The target of an annotation or edit; undefined for entries of other types. */
function targetOf(log: EntryLog, entry: Entry, seq: Seq): Seq | undefined {
  if (!namesTarget(entry.type)) return undefined
  const { targetId } = entry as Readonly<Record<string, unknown>>
  return typeof targetId === "string" ? (log.find(targetId, seq) ?? MISSING) : MISSING
}

interface Selection {
  readonly path: readonly Seq[]
  readonly onPath: ReadonlySet<Seq>
  /** Seqs in the fork by seqs in the source. */
  readonly positions: ReadonlyMap<Seq, Seq>
}

/** A compaction of which no kept entry is selected keeps nothing: it names itself. */
function firstKeptFields(
  log: EntryLog,
  entry: Entry,
  { path, onPath, positions }: Selection,
): Readonly<Record<string, unknown>> {
  const source = firstKeptOf(log, entry, entry.seq)
  // If the first kept entry was left out, the next selected one takes its position.
  const next =
    source !== undefined && onPath.has(source)
      ? path.find((at) => at >= source && at < entry.seq && positions.has(at))
      : undefined
  const kept = next ?? entry.seq
  return { firstKeptEntryId: (log.at(kept) as Entry).id, firstKeptSeq: positions.get(kept) }
}

/** Undefined if it keeps nothing, or is not a compaction. */
function firstKeptOf(log: EntryLog, entry: Entry, seq: Seq): Seq | undefined {
  if (entry.type !== "compaction") return undefined
  const { firstKeptEntryId: id } = entry as Readonly<Record<string, unknown>>
  return typeof id === "string" && id !== entry.id ? log.find(id, seq) : undefined
}
