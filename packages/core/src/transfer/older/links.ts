/** Resolves the references of a complete log to seqs, in time linear in its length. */
import type { Diagnostic } from "../../format/diagnostics.ts"
import { isObject } from "../../format/shape.ts"
import { shown } from "../../storage/options.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { ROOT, parentOf } from "../../log/path.ts"
import type { Entry } from "../../format/entry.ts"

export interface Links {
  /** Seq of an entry's parent, or {@link ROOT}. */
  readonly parents: ArrayLike<Seq>
  /** By seq of a compaction: its first kept entry, which is the nearest earlier entry with that id, if it is on its path. */
  readonly firstKept: ReadonlyMap<Seq, Seq>
  /** By seq of an entry: the last earlier entry that is not one of its ancestors, or {@link ROOT}. */
  readonly lastOutside: ArrayLike<Seq>
  /** By seq of an entry: 1 if it or one of its ancestors is a system message. */
  readonly hasSystem: ArrayLike<number>
  isAncestor(ancestor: Seq, seq: Seq): boolean
}

export function linkEntries(log: EntryLog): Links {
  const parents = new Int32Array(log.end).fill(ROOT)
  const lastOutside = new Int32Array(log.end).fill(ROOT)
  const hasSystem = new Uint8Array(log.end)
  const named = new Map<Seq, Seq>()
  let before: Seq = ROOT
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const parent = parentOf(log, seq)
    parents[seq] = parent
    // A child of the previous entry has the same ancestors and that entry, so the same last entry outside.
    lastOutside[seq] = parent === before ? (lastOutside[before] ?? ROOT) : before
    before = seq
    hasSystem[seq] = isSystem(entry) ? 1 : (hasSystem[parent] ?? 0)
    const firstKeptId = entry.type === "compaction" ? entry["firstKeptEntryId"] : undefined
    const found = typeof firstKeptId === "string" ? log.find(firstKeptId, seq) : undefined
    if (found !== undefined) named.set(seq, found)
  }
  const isAncestor = ancestry(parents)
  const firstKept = new Map([...named].filter(([compaction, kept]) => isAncestor(kept, compaction)))
  return { parents, firstKept, lastOutside, hasSystem, isAncestor }
}

function isSystem({ type, message }: Entry): boolean {
  return type === "message" && isObject(message) && message["role"] === "system"
}

/** The diagnostic for a compaction whose first kept entry is not on its path. */
export function missingFirstKept({ id, seq, firstKeptEntryId }: Entry): Diagnostic {
  const message = `Compaction ${id} (line ${seq}) keeps from ${shown(firstKeptEntryId)} on, which is not on its path; nothing before it is kept.`
  return { code: "missing_first_kept", seq, entryId: id, message }
}

/**
 * Numbers the forest in depth-first order, so that the descendants of an entry are a range. Parents come before their children in a
 * log, so one pass from the end sums the sizes of subtrees, and one from the beginning assigns the numbers.
 */
function ancestry(parents: Int32Array): (ancestor: Seq, seq: Seq) => boolean {
  const count = parents.length
  const sizes = new Int32Array(count).fill(1)
  for (let seq = count - 1; seq >= 0; seq--) {
    const parent = parents[seq] ?? ROOT
    if (parent !== ROOT) sizes[parent] = (sizes[parent] ?? 0) + (sizes[seq] ?? 0)
  }
  const starts = new Int32Array(count)
  const nextChild = new Int32Array(count)
  let nextRoot = 0
  for (let seq = 0; seq < count; seq++) {
    const parent = parents[seq] ?? ROOT
    const size = sizes[seq] ?? 0
    const start = parent === ROOT ? nextRoot : (nextChild[parent] ?? 0)
    if (parent === ROOT) nextRoot += size
    else nextChild[parent] = start + size
    starts[seq] = start
    nextChild[seq] = start + 1
  }
  return (ancestor, seq) => {
    const offset = (starts[seq] ?? 0) - (starts[ancestor] ?? 0)
    return offset > 0 && offset < (sizes[ancestor] ?? 0)
  }
}
