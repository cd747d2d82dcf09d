/** Pending appends: their entries are at the end of the log in memory, and their lines wait to be acknowledged. */
import { cloneJson } from "../format/clone.ts"
import { isAnnotationType } from "../format/entry-types.ts"
import type { Hint } from "../format/hints.ts"
import { type EncodedEntry, lineOf } from "../format/line.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { leafAt } from "../log/path.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { hasCode } from "../format/errors.ts"
import type { Divergence } from "../log/diverged.ts"
import type { KnownLosses } from "./losses.ts"
import type { RunningTurn, AppendResult, ConflictPolicy, TurnLease } from "./types.ts"

export interface PendingEntry {
  readonly id: string
  readonly type: string
  readonly parentId: string | null
  /** The line for memory, everything in place. */
  readonly full: EncodedEntry
  /** The line for the storage, large values moved to blobs. Set again when the blobs were put. */
  stored: EncodedEntry
  /** UTF-8 bytes of `stored` without its seq. */
  readonly bytes: number
  /** The line as memory holds it, encoded for this seq; undefined until the entry is in memory. */
  line: { readonly seq: Seq; readonly text: string } | undefined
  /** A field with the seq of another entry, which is known only when the line is written. */
  readonly hint: SeqHint | undefined
  /** The entry follows the log's last entry even if that is on another branch, and does not become this session's leaf. */
  readonly keepsLeaf: boolean
}

export interface SeqHint extends Hint {
  readonly targetId: string
}

/** A caller that waits: the one that appended, one that repeated an entry of it, or (without ids) a flush. */
export interface Caller {
  readonly ids: readonly string[]
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
  /** Of the handle through which it appends. */
  readonly losses: KnownLosses | undefined
}

/** The entries of one call of `append`. They go out in one batch, never split. */
export interface PendingAppend {
  /** Entries that are not known to be in the log yet. */
  entries: readonly PendingEntry[]
  callers: Caller[]
  readonly policy: ConflictPolicy | "rebase"
  /** `unknown`: the entries may be in the log, or may still arrive there. */
  outcome: "queued" | "sent" | "unknown"
  /** The lines as first sent. While the outcome is unknown the same bytes go out again, so that a late write meets itself. */
  lines: readonly string[] | undefined
  /** Some of its entries are in the log: the rest must follow. */
  committed: boolean
  /** Puts the blobs and completes the entries, and may be called again; undefined for an append without blobs. */
  putBlobs: (() => Promise<void>) | undefined
  /** The first call of {@link putBlobs}, under way. */
  ready: Promise<void> | undefined
  /** When the last successful call of {@link putBlobs} began, by the session's clock. */
  putAt: number | undefined
  /** The turn whose first append this is. */
  readonly opens: RunningTurn | undefined
  /** Lease of the turn that it belongs to; null: of none. */
  readonly lease: TurnLease | null
  diverged: Divergence | undefined
}

export function isAnnotation(item: PendingAppend): boolean {
  return !item.entries.some(isConversation)
}

/** Whether an entry is part of the conversation, not an annotation. */
export function isConversation(entry: { readonly type: string }): boolean {
  return entry.type === "message" || !isAnnotationType(entry.type)
}

/** The line for memory at a seq. */
export function memoryLine(entry: PendingEntry, seq: Seq, log: EntryLog): string {
  const line = lineAt(entry, entry.full, seq, log)
  entry.line = { seq, text: line }
  return line
}

/** The line for the storage. If no value moved to a blob, memory and storage share one text. */
export function storedLine(entry: PendingEntry, seq: Seq, log: EntryLog): string {
  if (entry.stored === entry.full && entry.line?.seq === seq) return entry.line.text
  return lineAt(entry, entry.stored, seq, log)
}

/** Exact UTF-8 bytes of {@link storedLine} and its LF. */
export function storedBytes(entry: PendingEntry, seq: Seq, log: EntryLog): number {
  return entry.bytes + String(seq).length + hintAt(entry, seq, log).length + 1
}

function lineAt(entry: PendingEntry, encoded: EncodedEntry, seq: Seq, log: EntryLog): string {
  const line = lineOf(encoded, seq)
  const hint = hintAt(entry, seq, log)
  return hint === "" ? line : `${line.slice(0, -1)}${hint}}`
}

/** The hint goes last: everything before it is encoded already. */
function hintAt({ id, hint }: PendingEntry, seq: Seq, log: EntryLog): string {
  if (hint === undefined) return ""
  const target = hint.targetId === id ? seq : log.find(hint.targetId)
  return target === undefined ? "" : `,"${hint.field}":${target}`
}

/** The entry with another parent. Only the part of its lines before `seq` changes. */
export function withParent(entry: PendingEntry, parentId: string | null, keepsLeaf: boolean): PendingEntry {
  const before = `{"type":${JSON.stringify(entry.type)},"id":${JSON.stringify(entry.id)},"parentId":${JSON.stringify(parentId)},"seq":`
  const moved = (encoded: EncodedEntry): EncodedEntry => ({ before, after: encoded.after })
  const full = moved(entry.full)
  const stored = entry.stored === entry.full ? full : moved(entry.stored)
  const bytes = entry.bytes - utf8Length(entry.stored.before) + utf8Length(stored.before)
  return { ...entry, parentId, keepsLeaf, full, stored, bytes, line: undefined }
}

/** The leaf after these entries, which follow the leaf `before`. */
export function leafAfter(entries: readonly PendingEntry[], before: string | null): string | null {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as PendingEntry
    if (!entry.keepsLeaf) return leafAt(entry)
  }
  return before
}

export function entriesOf(items: readonly PendingAppend[]): PendingEntry[] {
  return items.flatMap((item) => item.entries)
}

/**
 * Milliseconds. Until the lines are there, a collector in another process takes their blobs for unused, and a process may be suspended at
 * any point for longer than a collector waits. Far less than the day after which `collectBlobs` removes a blob that no log names, far more
 * than a send usually takes.
 */
const BLOBS_ARE_OLD = 60 * 60 * 1000

/** Whether blobs must be put again, because their lines may not be in the log yet. `putAt`: when the put began. */
export function areOld(putAt: number, now: number): boolean {
  return now - putAt > BLOBS_ARE_OLD
}

export function hasOldBlobs({ putAt }: PendingAppend, clock: { now(): number }): boolean {
  return putAt !== undefined && areOld(putAt, clock.now())
}

/** The append was not written, and can be sent again. */
export function requeue(item: PendingAppend): void {
  item.outcome = "queued"
  item.lines = undefined
}

/** The append is in the log. */
export function acknowledge({ opens, diverged, callers }: PendingAppend, head: Head): void {
  if (opens !== undefined) opens.phase = "written"
  for (const { ids, resolve } of callers) {
    // Each caller may change what it gets.
    const result = { ids, head: { ...head } }
    resolve(diverged === undefined ? result : { ...result, diverged: cloneJson(diverged) })
  }
}

/** A turn that started over would hide what is gone. */
function isLoss(error: Error & { readonly lost?: unknown }): boolean {
  return error.lost !== undefined
}

/** The append is not in the log, and never will be. */
export function refuse(item: PendingAppend, error: unknown): void {
  if (item.opens !== undefined) {
    item.opens.phase = "unopened"
    item.opens.conflicted ||= item.policy === "retry-turn" && hasCode(error, "conflict") && !isLoss(error)
  }
  for (const { losses, reject } of item.callers) {
    losses?.told(error)
    reject(error)
  }
}
