/**
 * Plans what a merge of two logs of one session writes on each side: the entries that the other has, in the order of its log, and, if a log would
 * not end at the leaf on which both agree, one `leaf` entry that is the same on both. Pure; `merge.ts` reads and writes.
 */
import type { Entry } from "../../format/entry.ts"
import { isAnnotationType } from "../../format/entry-types.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { replaces, writeTimeOf } from "../../log/last-writer-wins.ts"

export interface MergePlan {
  /** Entries of this side that the other one lacks, in log order. */
  readonly toThere: readonly Entry[]
  readonly toHere: readonly Entry[]
  /** The entry at which both logs end, null for none: neither an annotation nor a `leaf`. */
  readonly leaf: string | null
  /** The timestamp of the `leaf` entry that both logs need; undefined if both end at the leaf already. */
  readonly leafAt: string | undefined
}

/** Why two logs cannot be merged: an entry that the other side lacks, and its parent, which would not be before it. */
export interface MissingParent {
  readonly from: "here" | "there"
  readonly entry: Entry
}

/** The content of the entries does not matter, and each log has an id once. */
export function planMerge(here: EntryLog, there: EntryLog): MergePlan | MissingParent {
  const toThere = missingIn(there, here)
  const toHere = missingIn(here, there)
  const orphan = orphanOf(toThere, there)
  if (orphan !== undefined) return { from: "here", entry: orphan }
  const otherOrphan = orphanOf(toHere, here)
  if (otherOrphan !== undefined) return { from: "there", entry: otherOrphan }
  const find = (id: string): Entry | undefined => entryOf(here, id) ?? entryOf(there, id)
  const agreed = agreedLeaf({ here, there, toHere, toThere }, find)
  const leaf = positionOf(agreed, find)
  const endsThere = positionOf(toThere.at(-1) ?? lastOf(there), find)
  const endsHere = positionOf(toHere.at(-1) ?? lastOf(here), find)
  const isAtLeaf = endsHere === leaf && endsThere === leaf
  return { toThere, toHere, leaf, leafAt: isAtLeaf ? undefined : timestampOf(agreed) }
}

/** A stored entry may have any timestamp, or none: then its time counts as 0. */
function timestampOf(entry: Entry | undefined): string {
  const timestamp: unknown = entry?.timestamp
  return typeof timestamp === "string" ? timestamp : new Date(0).toISOString()
}

function entryOf(log: EntryLog, id: string): Entry | undefined {
  const seq = log.find(id)
  return seq === undefined ? undefined : log.at(seq)
}

function missingIn(other: EntryLog, log: EntryLog): Entry[] {
  const missing: Entry[] = []
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined && other.find(entry.id) === undefined) missing.push(entry)
  }
  return missing
}

/** The first entry that would be written without its parent before it. */
function orphanOf(missing: readonly Entry[], receiver: EntryLog): Entry | undefined {
  const written = new Set<string>()
  for (const entry of missing) {
    const { id, parentId } = entry
    if (parentId !== null && receiver.find(parentId) === undefined && !written.has(parentId)) return entry
    written.add(id)
  }
  return undefined
}

interface Sides {
  readonly here: EntryLog
  readonly there: EntryLog
  readonly toHere: readonly Entry[]
  readonly toThere: readonly Entry[]
}

type Find = (id: string) => Entry | undefined

/**
 * Chooses among the leaves of both logs before the merge: that of the only side that gives more than annotations; else the descendant, if one is the
 * other's ancestor; else the greater by (time, id).
 */
function agreedLeaf({ here, there, toHere, toThere }: Sides, find: Find): Entry | undefined {
  const own = lastConversation(here)
  const other = lastConversation(there)
  if (own === undefined || other === undefined || own.id === other.id) return own ?? other
  const given = toThere.some(isConversation)
  const got = toHere.some(isConversation)
  if (given !== got) return given ? own : other
  if (isAncestor(own, other, find)) return other
  if (isAncestor(other, own, find)) return own
  return replaces(writeTimeOf(own), writeTimeOf(other)) ? own : other
}

function lastConversation(log: EntryLog): Entry | undefined {
  for (let seq = log.end - 1; seq >= log.from; seq--) {
    const entry = log.at(seq)
    if (entry !== undefined && isConversation(entry)) return entry
  }
  return undefined
}

function lastOf(log: EntryLog): Entry | undefined {
  return log.at(log.entryBefore(log.end) ?? log.end)
}

function isConversation({ type }: Entry): boolean {
  return !isAnnotationType(type)
}

function isAncestor(ancestor: Entry, entry: Entry, find: Find): boolean {
  for (const at of pathOf(entry, find)) if (at.id === ancestor.id) return true
  return false
}

/** The entry to which a log that ends in this one leads, through annotations and `leaf` entries. */
function positionOf(end: Entry | undefined, find: Find): string | null {
  for (const { id, type } of pathOf(end, find)) if (type !== "leaf" && !isAnnotationType(type)) return id
  return null
}

/** The entry and those before it on its path. In a damaged log parents may form a circle. */
function* pathOf(end: Entry | undefined, find: Find): Generator<Entry, void, undefined> {
  const seen = new Set<string>()
  for (let at = end; at !== undefined && !seen.has(at.id); at = at.parentId === null ? undefined : find(at.parentId)) {
    seen.add(at.id)
    yield at
  }
}
