/** Checks appends against the limits of their storage and their session, before anything is written. */
import { SessionError } from "../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES, MAX_METADATA_BYTES, MAX_METADATA_KEYS } from "../format/limits.ts"
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES, isAnnotationType } from "../format/entry-types.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { Capabilities } from "../storage/contract.ts"
import { MAX_DEPTH } from "../storage/depth.ts"
import { ownMap } from "../info/projection.ts"
import { type PendingAppend, type PendingEntry, storedBytes } from "./pending.ts"
import type { SessionState } from "./session-state.ts"

/** Entries that a full session still takes, so that it can be compacted, branched and named. */
function isSmall({ type }: PendingEntry): boolean {
  return ENTRY_TYPES.get(type)?.small === true || isAnnotationType(type)
}

interface Limited {
  readonly id: string
  readonly state: SessionState
  readonly maxSessionBytes: number
}

/** A seq of 16 digits, a hint of that length with its field's name, and the LF: known only when the line is written. */
const SPARE_BYTES = 64

/** Bytes of the entries' lines, at whatever seq they get: at most 64 a line more than they will have. */
export function entriesBytes(entries: readonly PendingEntry[]): number {
  let bytes = 0
  for (const entry of entries) bytes += entry.bytes + SPARE_BYTES
  return bytes
}

/** Refuses a line or a batch that no position in the storage can hold. */
export function checkSizes(
  id: string,
  entries: readonly PendingEntry[],
  { maxLineBytes, maxBatchBytes }: Capabilities,
): void {
  let batch = 0
  for (const { bytes } of entries) {
    const line = bytes + SPARE_BYTES
    if (line > maxLineBytes) throw tooLargeError(id, "entry", line, maxLineBytes)
    batch += line
  }
  if (batch > maxBatchBytes) throw tooLargeError(id, "batch", batch, maxBatchBytes)
}

/** Refuses metadata with which the session would have too much of it: each list reads it. */
export function checkMetadata(id: string, { info }: SessionState, fresh: readonly { readonly entry: Entry }[]): void {
  const given = fresh.filter(({ entry }) => entry.type === "metadata")
  if (given.length === 0) return
  const all: Record<string, unknown> = ownMap(info?.metadata)
  const before = Object.keys(all).length
  for (const { entry } of given) all[entry["key"] as string] = entry["value"]
  const keys = Object.keys(all).length
  // A log of another program may have more of them already: those can still be set.
  if (keys > MAX_METADATA_KEYS && keys > before) throw tooLargeError(id, "metadata", keys, MAX_METADATA_KEYS, "keys")
  const bytes = utf8Length(JSON.stringify(all))
  if (bytes > MAX_METADATA_BYTES) throw tooLargeError(id, "metadata", bytes, MAX_METADATA_BYTES)
}

/** How many items go out in one batch, from the front: at least one, whole, all of one outcome, and none whose blobs are still being put. */
export function batchOf(items: readonly PendingAppend[], maxBytes: number): number {
  let bytes = 0
  let count = 0
  for (const item of items) {
    bytes += entriesBytes(item.entries)
    if (count > 0 && (item.ready !== undefined || item.outcome !== items[0]?.outcome || bytes > maxBytes)) break
    count++
  }
  return count
}

/** The largest session in bytes to which these entries may be added. */
export function limitFor(entries: readonly PendingEntry[], limit: number): number {
  return entries.every(isSmall) ? limit + FULL_SESSION_SLACK_BYTES : limit
}

export interface BeyondLimit {
  readonly item: PendingAppend
  readonly error: SessionError
}

/** The first of the items with which the session would be longer than it may be. Exact sizes are counted near the limit only. */
export function beyondLimitIn(
  { id, state, maxSessionBytes: limit }: Limited,
  items: readonly PendingAppend[],
): BeyondLimit | undefined {
  let total = state.bytes
  let most = total
  for (const { entries } of items) most += entriesBytes(entries)
  if (most <= limit) return undefined
  let seq = state.acknowledged
  for (const item of items) {
    for (const entry of item.entries) total += storedBytes(entry, seq++, state.log)
    // An append that is committed in part was accepted as a whole.
    if (item.committed || total <= limitFor(item.entries, limit)) continue
    const message = `The session ${id} would have ${total} bytes; its limit is ${limit}. Go on in another, or raise maxSessionBytes.`
    return { item, error: new SessionError("too_large", message, { session: id }) }
  }
  return undefined
}

export function tooDeepError(id: string, what: string): SessionError {
  return tooLargeError(id, what, `over ${MAX_DEPTH}`, MAX_DEPTH, "levels")
}

export function tooLargeError(
  id: string,
  what: string,
  size: number | string,
  most: number,
  unit = "bytes",
): SessionError {
  const message = `The ${what} has ${size} ${unit}; this storage takes ${most}. Nothing was written. Split it, or put large content in files.`
  return new SessionError("too_large", message, { session: id })
}
