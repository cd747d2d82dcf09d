/** Appends that have their place in memory and wait for their acknowledgement. */
import { ANNOTATION_TYPES } from "../format/records.ts"
import { lineOf } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import { utf8Length } from "../storage/checks.ts"
import type { Seq } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import type { RunningTurn, AppendResult, ConflictPolicy, Divergence } from "./types.ts"

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
  /** The line as memory holds it, encoded for this seq. */
  line?: { readonly seq: Seq; readonly text: string }
  /** A field with the seq of another entry, which is known only when the line is written. */
  readonly hint: SeqHint | undefined
  /** The entry follows the log's last entry even if that is on another branch, and does not become this session's leaf. */
  readonly aside: boolean
}

export interface SeqHint {
  readonly field: "firstKeptSeq" | "targetSeq"
  readonly targetId: string
}

/** Somebody who waits: who made the append, who repeated one of its entries, or (without ids) a flush. */
export interface Caller {
  readonly ids: readonly string[]
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: unknown) => void
}

/** What one call of `append` handed in. It is written whole, never split. */
export interface PendingAppend {
  /** Those not yet known to be in the log. */
  entries: readonly PendingEntry[]
  callers: Caller[]
  readonly policy: ConflictPolicy
  /** `unknown`: the answer was that nobody knows, so that it may be in the log, or still come. */
  outcome: "queued" | "sent" | "unknown"
  /** As first sent. While its fate is unknown the same bytes go out again, so that a late write meets itself. */
  lines: readonly string[] | undefined
  /** Part of it is in the log: it must be finished. */
  committed: boolean
  /** It waited in memory for its session to be created, and was acknowledged as not durable. */
  deferred: boolean
  /** Puts the blobs and completes the entries; undefined once that is done. */
  putBlobs: (() => Promise<void>) | undefined
  /** {@link putBlobs} under way. */
  ready: Promise<void> | undefined
  /** The turn whose first append this is. */
  readonly opens: RunningTurn | undefined
  diverged: Divergence | undefined
}

export function isSide(item: PendingAppend): boolean {
  return !item.entries.some(isTalk)
}

/** Whether an entry is conversation, not naming or counting. */
export function isTalk(entry: { readonly type: string }): boolean {
  return !ANNOTATION_TYPES.has(entry.type)
}

type Find = (id: string) => Seq | undefined

/** The line for memory at a place. */
export function memoryLine(entry: PendingEntry, seq: Seq, find: Find): string {
  const line = lineAt(entry, entry.full, seq, find)
  entry.line = { seq, text: line }
  return line
}

/** The line for the storage; where nothing moved out of it, memory and storage share one text. */
export function storedLine(entry: PendingEntry, seq: Seq, find: Find): string {
  if (entry.stored === entry.full && entry.line?.seq === seq) return entry.line.text
  return lineAt(entry, entry.stored, seq, find)
}

/** Exact UTF-8 bytes of {@link storedLine} and its LF. */
export function storedBytes(entry: PendingEntry, seq: Seq, find: Find): number {
  return entry.bytes + String(seq).length + hintAt(entry, seq, find).length + 1
}

function lineAt(entry: PendingEntry, encoded: EncodedEntry, seq: Seq, find: Find): string {
  const line = lineOf(encoded, seq)
  const hint = hintAt(entry, seq, find)
  return hint === "" ? line : `${line.slice(0, -1)}${hint}}`
}

/** The hint goes last: everything before it is encoded already. */
function hintAt({ id, hint }: PendingEntry, seq: Seq, find: Find): string {
  if (hint === undefined) return ""
  const target = hint.targetId === id ? seq : find(hint.targetId)
  return target === undefined ? "" : `,"${hint.field}":${target}`
}

/** Hangs an entry under another parent. Only the part of its lines that stands before `seq` changes. */
export function withParent(entry: PendingEntry, parentId: string | null, aside: boolean): PendingEntry {
  const before = `{"type":${JSON.stringify(entry.type)},"id":${JSON.stringify(entry.id)},"parentId":${JSON.stringify(parentId)},"seq":`
  const moved = (encoded: EncodedEntry): EncodedEntry => ({ before, after: encoded.after })
  const { line: _, ...rest } = entry
  const full = moved(entry.full)
  const stored = entry.stored === entry.full ? full : moved(entry.stored)
  const bytes = entry.bytes - utf8Length(entry.stored.before) + utf8Length(stored.before)
  return { ...rest, parentId, aside, full, stored, bytes }
}

/** The entry that these leave the session with as its leaf; undefined where they leave it where it is. */
export function leafAfter(entries: readonly PendingEntry[]): string | undefined {
  return entries.findLast((entry) => !entry.aside)?.id
}

export function entriesOf(items: readonly PendingAppend[]): PendingEntry[] {
  return items.flatMap((item) => item.entries)
}

/** Nothing of it is under way any more. */
export function requeue(item: PendingAppend): void {
  item.outcome = "queued"
  item.lines = undefined
}

/** It is in the log. */
export function acknowledge(item: PendingAppend, result: Omit<AppendResult, "ids">): void {
  if (item.opens !== undefined) item.opens.phase = "written"
  const diverged = item.diverged === undefined ? {} : { diverged: item.diverged }
  for (const { ids, resolve } of item.callers) resolve({ ids, ...result, ...diverged })
}

/** It is not in the log, and never will be. */
export function refuse(item: PendingAppend, error: unknown): void {
  if (item.opens !== undefined) {
    item.opens.phase = "unopened"
    item.opens.conflicted ||= item.policy === "retry-turn" && hasCode(error, "conflict")
  }
  for (const { reject } of item.callers) reject(error)
}
