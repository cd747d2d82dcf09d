/** Encodes the entry of an append as its line; values that are too large for a line move to the blob store. */
import {
  applyBlobs,
  type BlobLimits,
  type BlobRef,
  mayHoldBlobs,
  planBlobs,
  type PlannedBlob,
} from "../format/blobs.ts"
import { hintOf } from "../format/hints.ts"
import { type EncodedEntry, toEncodedEntry } from "../format/line.ts"
import { type EntryPayload, type EntryPlace, placeEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import { truncateOversize } from "../format/text.ts"
import { putBlobs } from "../log/blobs.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { retryUnavailable } from "../storage/retry.ts"
import type { PendingAppend, PendingEntry, SeqHint } from "./pending.ts"

export interface EncodedAppendEntry {
  /** Holds the caller's own objects, so nothing of it may be kept beyond the call. */
  readonly entry: Entry
  readonly pending: PendingEntry
  /** Blobs to put before the line is written. */
  readonly blobs: readonly PlannedBlob[]
}

export interface PrepareOptions {
  readonly blobs: BlobLimits
  readonly oversize: "blobs" | "truncate"
}

export function encodeForAppend(
  given: EntryPayload,
  place: EntryPlace,
  keepsLeaf: boolean,
  { blobs: limits, oversize }: PrepareOptions,
): EncodedAppendEntry {
  const payload = oversize === "truncate" ? truncateOversize(given, { textUnits: limits.textUnits }) : given
  const hint = hintFor(payload, place.parentId)
  const entry = placeEntry(hint === undefined ? payload : without(payload, hint.field), place)
  const full = toEncodedEntry(entry)
  const blobs = mayHoldBlobs(full, limits) ? planBlobs(decodeEntry(full), limits) : NO_BLOBS
  // References are of one length, so the line's size is known before its blobs are put.
  const bytes = bytesOf(blobs.length === 0 ? full : withBlobs(full, blobs.map(toZero)))
  const { type } = payload
  const { id, parentId } = place
  return { entry, pending: { id, type, parentId, full, stored: full, bytes, line: undefined, hint, keepsLeaf }, blobs }
}

function hintFor(payload: EntryPayload, parentId: string | null): SeqHint | undefined {
  const hint = hintOf(payload, parentId)
  return typeof hint?.targetId === "string" ? (hint as SeqHint) : undefined
}

function without(payload: EntryPayload, field: string): EntryPayload {
  const { [field]: _, ...rest } = payload as Record<string, unknown>
  return rest as unknown as EntryPayload
}

const NO_BLOBS: readonly PlannedBlob[] = []

/** Puts the blobs of an append, and completes its lines for the storage. */
export async function putPlanned(
  storage: SessionStorage,
  item: Pick<PendingAppend, "entries"> & Partial<Pick<PendingAppend, "putAt" | "ready">>,
  planned: readonly Pick<EncodedAppendEntry, "pending" | "blobs">[],
  now: () => number,
): Promise<void> {
  const began = now()
  for (const { pending, blobs } of planned) {
    const refs = await retryUnavailable(() => putBlobs(storage, blobs))
    const entry = item.entries.find((one) => one.id === pending.id)
    // The parent may have changed meanwhile; it is in the part before the seq.
    if (entry !== undefined) entry.stored = { before: entry.full.before, after: withBlobs(pending.full, refs).after }
  }
  item.putAt = began
  item.ready = undefined
}

function bytesOf({ before, after, line }: EncodedEntry): number {
  if (line !== undefined) return utf8Length(line.text) - String(line.seq).length
  return utf8Length(before) + utf8Length(after)
}

/** A copy of an encoded entry, which nobody else holds. Its seq is 0. */
export function decodeEntry({ before, after }: EncodedEntry): Entry {
  return JSON.parse(`${before}0${after}`) as Entry
}

/** The line with its blobs' references in place. */
function withBlobs(full: EncodedEntry, refs: readonly BlobRef[]): EncodedEntry {
  return toEncodedEntry(applyBlobs(decodeEntry(full), refs))
}

function toZero({ pointer, encoding }: PlannedBlob): BlobRef {
  return { pointer, encoding, hash: "0".repeat(64) }
}
