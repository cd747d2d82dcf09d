/** Whether appends fit their session's limits. Refused before anything is written. */
import { SessionError } from "../errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../format/limits.ts"
import { SIDE_ENTRY_TYPES } from "../format/records.ts"
import type { Capabilities, SessionStorage } from "../storage/contract.ts"
import { utf8Length } from "../storage/checks.ts"
import { lineOf } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { PendingAppend } from "./pending.ts"
import type { SessionState } from "./session-state.ts"

/** What a full session still takes, so that it can be compacted, branched and named. */
const SMALL_ENTRY_TYPES: ReadonlySet<string> = new Set([
  ...SIDE_ENTRY_TYPES,
  "compaction",
  "leaf",
  "branch_summary",
  "context_edit",
])

export interface Room {
  /** How many of the items fit, from the front. */
  readonly fits: number
  /** Why the next one does not. */
  readonly refused?: SessionError
}

type RoomHost = {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly maxSessionBytes: number
}

/** Whether items fit by the coarsest count; bytes are counted exactly only near the limit. */
export function surelyFits({ state, maxSessionBytes }: RoomHost, items: readonly PendingAppend[]): boolean {
  return state.bytesAtMost + items.reduce((sum, item) => sum + itemUnits(item) * 3, 0) <= maxSessionBytes
}

/** Asks the storage for the log's exact size. */
export async function countBytes({ id, storage, state }: RoomHost): Promise<void> {
  const head = state.head === undefined ? undefined : await storage.head(id)
  if (head !== undefined && head.log === state.head?.log) state.bytesAtMost = head.bytes
}

/** Checks the session's total, item by item. */
export function admit({ id, state, maxSessionBytes: limit }: RoomHost, items: readonly PendingAppend[]): Room {
  let total = state.bytesAtMost
  for (const [index, item] of items.entries()) {
    for (const { stored } of item.entries) total += utf8Length(stored.before) + utf8Length(stored.after) + 12
    const small = item.entries.every((entry) => SMALL_ENTRY_TYPES.has(entry.type))
    if (total <= limit + (small ? FULL_SESSION_SLACK_BYTES : 0)) continue
    const message = `The session ${id} would have ${total} bytes; its limit is ${limit}. Go on in a fork, or raise maxSessionBytes.`
    return { fits: index, refused: new SessionError("too_large", message, { session: id }) }
  }
  return { fits: items.length }
}

/** The largest seq takes 16 digits; a hint that is filled in later takes less than this. */
const SPARE_UNITS = 64

/** Refuses a line or a batch that no place in the storage can hold. */
export function checkSizes(id: string, encoded: readonly EncodedEntry[], capabilities: Capabilities): void {
  let units = 0
  for (const one of encoded) {
    const lineUnits = one.before.length + one.after.length + SPARE_UNITS
    units += lineUnits
    if (lineUnits * 3 <= capabilities.maxLineBytes) continue
    const bytes = utf8Length(lineOf(one, 0)) + SPARE_UNITS
    if (bytes > capabilities.maxLineBytes) throw tooLarge(id, "entry", bytes, capabilities.maxLineBytes)
  }
  if (units * 3 <= capabilities.maxBatchBytes) return
  const bytes = encoded.reduce((sum, one) => sum + utf8Length(lineOf(one, 0)) + SPARE_UNITS, 0)
  if (bytes > capabilities.maxBatchBytes) throw tooLarge(id, "batch", bytes, capabilities.maxBatchBytes)
}

function tooLarge(id: string, what: string, bytes: number, most: number): SessionError {
  const message = `The ${what} has ${bytes} bytes; this storage takes ${most}. Nothing was written. Split it, or put large content into files.`
  return new SessionError("too_large", message, { session: id })
}

function itemUnits(item: PendingAppend): number {
  let units = 0
  for (const entry of item.entries) units += entry.stored.before.length + entry.stored.after.length + SPARE_UNITS
  return units
}
