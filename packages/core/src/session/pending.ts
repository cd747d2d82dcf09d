/** Entries that have their place in memory and wait for their acknowledgement. */
import { SIDE_ENTRY_TYPES } from "../format/records.ts"
import { lineOf } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { Seq } from "../storage/contract.ts"
import type { AppendResult, ConflictPolicy, Divergence } from "./types.ts"

export interface PendingEntry {
  readonly id: string
  readonly type: string
  parentId: string | null
  /** The line for memory, everything in place. */
  readonly full: EncodedEntry
  /** The line for the storage: blobs moved out. Set again when they were put. */
  stored: EncodedEntry
  /** Fills in a field that says where another entry stands, which is known only when the line is written. */
  readonly hint?: PlaceHint
}

export interface PlaceHint {
  readonly field: "firstKeptSeq" | "targetSeq"
  readonly targetId: string
}

/** What one call of `append` handed in. It is written whole, never split. */
export interface PendingAppend {
  /** Those not yet known to be in the log. */
  entries: PendingEntry[]
  /** Of all entries, in order. */
  readonly ids: readonly string[]
  readonly policy: ConflictPolicy
  /** Blobs are being put; the line is not complete before. */
  ready?: Promise<void> | undefined
  readonly signal?: AbortSignal | undefined
  /** It waited in memory for its session to be created, and was acknowledged as not durable. */
  waited: boolean
  /** The batch with it is on its way, or may have arrived. */
  sent: boolean
  diverged?: Divergence
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
}

export function isSide(item: PendingAppend): boolean {
  return item.entries.every((entry) => SIDE_ENTRY_TYPES.has(entry.type))
}

/** The line as it is stored at a place. */
export function storedLine(entry: PendingEntry, seq: Seq, find: (id: string) => Seq | undefined): string {
  const line = lineOf(entry.stored, seq)
  if (entry.hint === undefined) return line
  const place = find(entry.hint.targetId)
  return place === undefined ? line : `${line.slice(0, -1)},${JSON.stringify(entry.hint.field)}:${place}}`
}

/** Hangs an entry under another parent. Only the part of its lines that stands before `seq` changes. */
export function reparent(entry: PendingEntry, parentId: string | null): PendingEntry {
  const before = `{"type":${JSON.stringify(entry.type)},"id":${JSON.stringify(entry.id)},"parentId":${JSON.stringify(parentId)},"seq":`
  const moved = (encoded: EncodedEntry): EncodedEntry => ({ before, after: encoded.after })
  return { ...entry, parentId, full: moved(entry.full), stored: moved(entry.stored) }
}
