/** Whether appends fit their session's limits. Refused before anything is written. */
import { SessionError } from "../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../format/limits.ts"
import { ANNOTATION_TYPES } from "../format/records.ts"
import type { Capabilities, SessionStorage } from "../storage/contract.ts"
import { batchBytes, utf8Length } from "../storage/checks.ts"
import { lineOf } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { PendingAppend, PendingEntry } from "./pending.ts"
import type { SessionState } from "./session-state.ts"

/** What a full session still takes, so that it can be compacted, branched and named. */
const SMALL_ENTRY_TYPES: ReadonlySet<string> = new Set([
  ...ANNOTATION_TYPES,
  "compaction",
  "leaf",
  "branch_summary",
  "context_edit",
])

/** A seq of 16 digits, a hint of that length and its field's name. */
const SPARE_BYTES = 64

interface LimitContext {
  readonly id: string
  readonly state: SessionState
  readonly maxSessionBytes: number
}

/** Whether items fit by the coarsest count: a UTF-16 unit is at most three bytes. */
export function surelyFits({ state, maxSessionBytes }: LimitContext, items: readonly PendingAppend[]): boolean {
  return state.bytesAtMost + items.reduce((sum, item) => sum + bytesAtMost(item), 0) <= maxSessionBytes
}

export interface Refusal {
  /** How many of the items fit, from the front. */
  readonly fits: number
  /** Why the next one does not. */
  readonly refused: SessionError
}

/** Counts exactly what the session would have. Undefined: all of it fits. */
export function refusal(
  { id, state, maxSessionBytes: limit }: LimitContext,
  items: readonly PendingAppend[],
): Refusal | undefined {
  let total = state.bytesAtMost
  for (const [index, item] of items.entries()) {
    total += item.entries.reduce((sum, entry) => sum + lineBytes(entry, state.log.end), 0)
    // An append of which a part is in the log was let in with all of it.
    const small = item.entries.every((entry) => SMALL_ENTRY_TYPES.has(entry.type))
    if (item.committed || total <= limit + (small ? FULL_SESSION_SLACK_BYTES : 0)) continue
    const message = `The session ${id} would have ${total} bytes; its limit is ${limit}. Go on in a fork, or raise maxSessionBytes.`
    return { fits: index, refused: new SessionError("too_large", message, { session: id }) }
  }
  return undefined
}

/** How many items go out in one batch, from the front: at least one, no part of one, and none whose blobs are still being put. */
export function batchOf(items: readonly PendingAppend[], maxBytes: number): number {
  let exact = 0
  let counted = 0
  let most = 0
  for (const [index, item] of items.entries()) {
    if (index > 0 && item.ready !== undefined) return index
    most += bytesAtMost(item)
    if (exact + most <= maxBytes) continue
    exact += items.slice(counted, index + 1).reduce((sum, one) => sum + entriesBytes(one.entries), 0)
    counted = index + 1
    most = 0
    if (exact > maxBytes) return Math.max(1, index)
  }
  return items.length
}

/** Bytes of lines in a log; the coarsest count where an exact one is not needed. */
export function countLines(lines: readonly string[], o: { readonly exact: boolean }): number {
  if (o.exact) return batchBytes(lines)
  let units = 0
  for (const line of lines) units += line.length + 1
  return units * 3
}

/** Refuses a line or a batch that no place in the storage can hold. `besides`: bytes of what goes out with them. */
export function checkSizes(
  id: string,
  encoded: readonly EncodedEntry[],
  capabilities: Capabilities,
  besides: number,
): void {
  let units = 0
  for (const one of encoded) {
    const lineUnits = one.before.length + one.after.length + SPARE_BYTES
    units += lineUnits
    if (lineUnits * 3 <= capabilities.maxLineBytes) continue
    const bytes = utf8Length(lineOf(one, 0)) + SPARE_BYTES
    if (bytes > capabilities.maxLineBytes) throw tooLarge(id, "entry", bytes, capabilities.maxLineBytes)
  }
  if (besides + units * 3 <= capabilities.maxBatchBytes) return
  const bytes = encoded.reduce((sum, one) => sum + utf8Length(lineOf(one, 0)) + SPARE_BYTES, besides)
  if (bytes > capabilities.maxBatchBytes) throw tooLarge(id, "batch", bytes, capabilities.maxBatchBytes)
}

/** Refuses what could not be written together with what waits for the session's creation already. */
export function checkDeferred(
  {
    id,
    storage,
    maxSessionBytes,
  }: { readonly id: string; readonly storage: SessionStorage; readonly maxSessionBytes: number },
  encoded: readonly EncodedEntry[],
  besides: number,
): void {
  const most = Math.min(storage.capabilities.maxBatchBytes, maxSessionBytes)
  const bytes = encoded.reduce((sum, one) => sum + utf8Length(lineOf(one, 0)) + SPARE_BYTES, besides)
  if (bytes > most) throw tooLarge(id, "batch that waits for the session's creation", bytes, most)
}

function tooLarge(id: string, what: string, bytes: number, most: number): SessionError {
  const message = `The ${what} has ${bytes} bytes; this storage takes ${most}. Nothing was written. Split it, or put large content into files.`
  return new SessionError("too_large", message, { session: id })
}

/** Bytes of pending entries' lines, or a few more. */
export function entriesBytes(entries: readonly PendingEntry[]): number {
  return entries.reduce(
    (sum, { stored }) => sum + utf8Length(stored.before) + utf8Length(stored.after) + SPARE_BYTES,
    0,
  )
}

function lineBytes({ stored, hint }: PendingEntry, seq: number): number {
  const digits = String(seq).length
  const hintBytes = hint === undefined ? 0 : `,"${hint.field}":`.length + digits
  return utf8Length(stored.before) + utf8Length(stored.after) + digits + hintBytes + 1
}

function bytesAtMost(item: PendingAppend): number {
  let bytes = 0
  for (const { stored } of item.entries) bytes += 3 * (stored.before.length + stored.after.length) + SPARE_BYTES
  return bytes
}
