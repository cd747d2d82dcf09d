/**
 * What a merge of two logs of one session writes on each side: the entries that the other has, in the order of its log, and, if a log would
 * not end at the leaf on which both agree, one `leaf` entry that is the same on both. Pure; `merge.ts` reads and writes.
 */
import { type Entry, isAnnotationType } from "../format/entry.ts"
import { replaces, stampOf } from "../log/stamps.ts"
import type { Seq } from "../storage/contract.ts"

/** An entry without its content. */
export interface MergeEntry extends Pick<Entry, "id" | "type" | "parentId" | "timestamp"> {
  readonly seq: Seq
}

/** The entries of one log in log order, by id. */
export type Side = ReadonlyMap<string, MergeEntry>

export interface MergePlan {
  /** Entries of this side that the other one lacks, in log order. */
  readonly toThere: readonly MergeEntry[]
  readonly toHere: readonly MergeEntry[]
  /** The entry at which both logs end, null for none: neither an annotation nor a `leaf`. */
  readonly leaf: string | null
  /** The timestamp of the `leaf` entry that both logs need; undefined if both end at the leaf already. */
  readonly leafAt: string | undefined
}

/** Why two logs cannot be merged: an entry that the other side lacks, and its parent, which would not be before it. */
export interface MissingParent {
  readonly from: "here" | "there"
  readonly entry: MergeEntry
}

export function planMerge(here: Side, there: Side): MergePlan | MissingParent {
  const toThere = missingIn(there, here)
  const toHere = missingIn(here, there)
  const orphan = orphanOf(toThere, there)
  if (orphan !== undefined) return { from: "here", entry: orphan }
  const otherOrphan = orphanOf(toHere, here)
  if (otherOrphan !== undefined) return { from: "there", entry: otherOrphan }
  const find = (id: string): MergeEntry | undefined => here.get(id) ?? there.get(id)
  const agreed = agreedLeaf({ here, there, toHere, toThere }, find)
  const leaf = positionOf(agreed, find)
  const endsThere = positionOf(toThere.at(-1) ?? lastOf(there), find)
  const endsHere = positionOf(toHere.at(-1) ?? lastOf(here), find)
  const isAtLeaf = endsHere === leaf && endsThere === leaf
  return { toThere, toHere, leaf, leafAt: isAtLeaf ? undefined : agreed?.timestamp }
}

function missingIn(other: Side, side: Side): MergeEntry[] {
  const missing: MergeEntry[] = []
  for (const entry of side.values()) if (!other.has(entry.id)) missing.push(entry)
  return missing
}

/** The first entry that would be written without its parent before it. */
function orphanOf(missing: readonly MergeEntry[], receiver: Side): MergeEntry | undefined {
  const written = new Set<string>()
  for (const entry of missing) {
    const { id, parentId } = entry
    if (parentId !== null && !receiver.has(parentId) && !written.has(parentId)) return entry
    written.add(id)
  }
  return undefined
}

interface Sides {
  readonly here: Side
  readonly there: Side
  readonly toHere: readonly MergeEntry[]
  readonly toThere: readonly MergeEntry[]
}

type Find = (id: string) => MergeEntry | undefined

/**
 * Of the leaves of both logs before the merge: that of the only side that gives more than annotations; else the descendant, if one is the
 * other's ancestor; else the greater by (time, id).
 */
function agreedLeaf({ here, there, toHere, toThere }: Sides, find: Find): MergeEntry | undefined {
  const own = lastConversation(here)
  const other = lastConversation(there)
  if (own === undefined || other === undefined || own.id === other.id) return own ?? other
  const given = toThere.some(isConversation)
  const got = toHere.some(isConversation)
  if (given !== got) return given ? own : other
  if (isAncestor(own, other, find)) return other
  if (isAncestor(other, own, find)) return own
  return replaces(stampOf(own), stampOf(other)) ? own : other
}

function lastConversation(side: Side): MergeEntry | undefined {
  let last: MergeEntry | undefined
  for (const entry of side.values()) if (isConversation(entry)) last = entry
  return last
}

function lastOf(side: Side): MergeEntry | undefined {
  let last: MergeEntry | undefined
  for (const entry of side.values()) last = entry
  return last
}

function isConversation({ type }: MergeEntry): boolean {
  return !isAnnotationType(type)
}

function isAncestor(ancestor: MergeEntry, entry: MergeEntry, find: Find): boolean {
  for (const at of pathOf(entry, find)) if (at.id === ancestor.id) return true
  return false
}

/** The entry to which a log that ends in this one leads, through annotations and `leaf` entries. */
function positionOf(end: MergeEntry | undefined, find: Find): string | null {
  for (const { id, type } of pathOf(end, find)) if (type !== "leaf" && !isAnnotationType(type)) return id
  return null
}

/** The entry and those before it on its path. In a damaged log parents may form a circle. */
function* pathOf(end: MergeEntry | undefined, find: Find): Generator<MergeEntry, void, undefined> {
  const seen = new Set<string>()
  for (let at = end; at !== undefined && !seen.has(at.id); at = at.parentId === null ? undefined : find(at.parentId)) {
    seen.add(at.id)
    yield at
  }
}
