/**
 * Follows parents from an entry to its root. Every walk in core uses `parentOf`, so that a missing parent, a duplicate id or a forward
 * reference is handled the same everywhere.
 */
import type { Seq } from "../storage/contract.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import { isAnnotationType } from "../format/entry-types.ts"
import type { EntryLog } from "./entry-log.ts"

/** The answer depends on lines that are not loaded. */
export interface NeedsOlder {
  readonly older: true
  /** Seq of the missing entry as the log has it. A hint: it may be wrong. */
  readonly hint?: Seq
  /** The least number of further lines that are needed; seldom many more. */
  readonly lines?: number
}

export function isOlder(answer: object | undefined): answer is NeedsOlder {
  return answer !== undefined && "older" in answer
}

/** The walk has reached a root. */
export const ROOT = -1
/** The next entry is in a part of the log that is not loaded. */
export const OLDER = -2

/**
 * Seq of an entry's parent, {@link ROOT}, or {@link OLDER}. Always less than `seq`, so a walk ends. A parent that is missing or after the
 * entry is added to `found`, if the log is complete.
 */
export function parentOf(log: EntryLog, seq: Seq, found?: Diagnostic[]): Seq {
  const entry = log.at(seq)
  const parentId = entry?.parentId
  if (entry === undefined || parentId === null || parentId === undefined) return ROOT
  const parent = log.find(parentId, seq)
  if (parent !== undefined) return parent
  if (!log.complete) return OLDER
  found?.push(missingParent(log, entry, parentId))
  // A lost line must not hide the history before it: continue at the entry before this one.
  return log.entryBefore(seq) ?? ROOT
}

function missingParent(log: EntryLog, { id: entryId, seq }: Entry, parentId: string): Diagnostic {
  const place = `Entry ${entryId} (line ${seq}) names the parent ${parentId}`
  const bridge = "the path continues at the entry before it in the log, which may be on another branch"
  const isLater = log.find(parentId) !== undefined
  const message = `${place}, which is not ${isLater ? "before it in the log" : "in the log"}; ${bridge}.`
  return { code: isLater ? "forward_reference" : "missing_parent", seq, entryId, message }
}

/** The leaf of a log as it is opened, see {@link leafFrom}. Null if the log has no entry; undefined if older lines must be read. */
export function defaultLeaf(log: EntryLog): Seq | null | undefined {
  const last = log.entryBefore(log.end)
  if (last === undefined) return log.complete ? null : undefined
  return leafFrom(log, last)
}

/**
 * The leaf of a log that ends in this entry: the entry, or null after `resetLeaf`, which annotations do not change. Undefined if it depends
 * on lines that are not loaded.
 */
export function leafFrom(log: EntryLog, last: Seq): Seq | null | undefined {
  let seq = last
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (leafAt(entry) === null) return null
    if (!isAnnotationType(entry.type)) return last
  }
  return seq === OLDER ? undefined : last
}

/** The leaf that an entry makes: the entry itself, or null after a `leaf` entry without a parent (`resetLeaf`). */
export function leafAt(entry: {
  readonly type: string
  readonly id: string
  readonly parentId: string | null
}): string | null {
  return entry.type === "leaf" && entry.parentId === null ? null : entry.id
}
