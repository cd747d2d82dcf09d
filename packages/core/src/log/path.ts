/**
 * The one walk from an entry to its root. Every caller that follows parents comes through here, so that a missing parent, a
 * duplicate id or a forward reference means the same everywhere.
 */
import type { Seq } from "../storage/contract.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { EntryLog } from "./entry-log.ts"

/** More of the log is needed. */
export interface NeedsOlder {
  readonly older: true
  /** Where the missing entry is said to stand: a hint from the log, which may be wrong. */
  readonly hint?: Seq
  /** At least so many lines more are needed, and seldom many more than those. */
  readonly lines?: number
}

export function isOlder(answer: object | undefined): answer is NeedsOlder {
  return answer !== undefined && "older" in answer
}

/** The walk has come to a root. */
export const ROOT = -1
/** The next entry lies in a part of the log that is not held. */
export const OLDER = -2

/** Seq of an entry's parent, {@link ROOT}, or {@link OLDER}. Always less than `seq`, so a walk ends. */
export function parentOf(log: EntryLog, seq: Seq): Seq {
  const parentId = log.at(seq)?.parentId
  if (parentId === null || parentId === undefined) return ROOT
  const parent = log.find(parentId, seq)
  if (parent !== undefined) return parent
  // The history before a lost line must not vanish with it: go on at the entry before this one.
  return log.complete ? (log.entryBefore(seq) ?? ROOT) : OLDER
}

/** Says so where an entry's parent is not where its id points. Only a complete log can tell. */
export function parentDiagnostic(log: EntryLog, seq: Seq): Diagnostic | undefined {
  const entry = log.at(seq)
  if (!log.complete || entry === undefined || entry.parentId === null) return undefined
  if (log.find(entry.parentId, seq) !== undefined) return undefined
  const forward = log.find(entry.parentId) !== undefined
  const place = `Entry ${entry.id} (line ${seq}) names the parent ${entry.parentId}`
  const bridge = "the path goes on at the entry before it in the log, which may be another branch"
  return forward
    ? {
        code: "forward_reference",
        seq,
        entryId: entry.id,
        message: `${place}, which does not stand before it; ${bridge}.`,
      }
    : { code: "missing_parent", seq, entryId: entry.id, message: `${place}, which is not in the log; ${bridge}.` }
}

export interface Path {
  /** From the root (or the oldest held entry on it) to the leaf. */
  readonly seqs: readonly Seq[]
  /** False: the path goes on further back than the log is held. */
  readonly reachesRoot: boolean
}

export function pathTo(log: EntryLog, leaf: Seq): Path {
  const seqs: Seq[] = []
  let seq = leaf
  for (; seq >= 0; seq = parentOf(log, seq)) seqs.push(seq)
  return { seqs: seqs.reverse(), reachesRoot: seq === ROOT }
}

/** The leaf that a reader of the log finds: its last entry. Null where it has none; undefined where none is held. */
export function defaultLeaf(log: EntryLog): Seq | null | undefined {
  return log.entryBefore(log.end) ?? (log.complete ? null : undefined)
}
