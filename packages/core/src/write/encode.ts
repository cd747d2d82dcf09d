/** From what a caller appends to an entry that can be placed. Pure. */
import { applyBlobs, doesHoldBlobs, planBlobs } from "../format/blob-refs.ts"
import type { BlobLimits, BlobRef, PlannedBlob } from "../format/blob-refs.ts"
import { encodeEntry } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { EntryPayload } from "../format/new-entry.ts"
import { placeEntry } from "../format/normalize.ts"
import type { EntryPlace } from "../format/normalize.ts"
import type { Entry } from "../format/records.ts"
import { truncateOversize } from "../format/truncate.ts"
import type { PendingEntry, SeqHint } from "./pending.ts"

export interface EncodedAppendEntry {
  /** Nothing that outlives the call may be kept of it: the caller's own objects are in it. */
  readonly entry: Entry
  readonly pending: PendingEntry
  /** What must be put before the line is written. */
  readonly blobs: readonly PlannedBlob[]
  /** The stored line as long as it will be. */
  readonly sized: EncodedEntry
}

export interface PrepareOptions {
  readonly blobs: BlobLimits
  readonly oversize: "blobs" | "truncate"
}

/** `aside`: see {@link PendingEntry.aside}. */
export function encodeForAppend(
  given: EntryPayload,
  place: EntryPlace,
  aside: boolean,
  { blobs: limits, oversize }: PrepareOptions,
): EncodedAppendEntry {
  const payload = oversize === "truncate" ? truncateOversize(given, limits) : given
  const hint = hintFor(payload, place.parentId)
  const entry = placeEntry(hint === undefined ? payload : without(payload, hint.field), place)
  const full = encodeEntry(entry)
  const pending: PendingEntry = {
    id: place.id,
    type: payload.type,
    parentId: place.parentId,
    full,
    stored: full,
    aside,
    ...(hint === undefined ? {} : { hint }),
  }
  const planned = doesHoldBlobs(full, limits) ? planAppend(full, limits) : { blobs: [], sized: full }
  return { entry, pending, ...planned }
}

/** Which entries say where another one stands. A leaf's target is its parent. */
function hintFor(payload: EntryPayload, parentId: string | null): SeqHint | undefined {
  const fields = payload as Readonly<Record<string, unknown>>
  switch (fields["type"]) {
    case "compaction":
      return toHint("firstKeptSeq", fields["firstKeptEntryId"])
    case "tombstone":
    case "context_edit":
    case "label":
      return toHint("targetSeq", fields["targetId"])
    case "leaf":
      return toHint("targetSeq", parentId)
    default:
      return undefined
  }
}

function toHint(field: SeqHint["field"], targetId: unknown): SeqHint | undefined {
  return typeof targetId === "string" ? { field, targetId } : undefined
}

function without(payload: EntryPayload, field: string): EntryPayload {
  const { [field]: _, ...rest } = payload as Record<string, unknown>
  return rest as unknown as EntryPayload
}

function planAppend(full: EncodedEntry, limits: BlobLimits): Pick<EncodedAppendEntry, "blobs" | "sized"> {
  const blobs = planBlobs(decodeEntry(full), limits)
  return { blobs, sized: blobs.length === 0 ? full : withBlobs(full, blobs.map(toZero)) }
}

/** A copy of an encoded entry, which nobody else holds. Its seq is 0. */
function decodeEntry({ before, after }: EncodedEntry): Entry {
  return JSON.parse(`${before}0${after}`) as Entry
}

/** The line with its blobs' references in place. */
export function withBlobs(full: EncodedEntry, refs: readonly BlobRef[]): EncodedEntry {
  return encodeEntry(applyBlobs(decodeEntry(full), refs))
}

/** References are of one length, so that a line's size is known before its blobs are put. */
function toZero({ pointer, encoding }: PlannedBlob): BlobRef {
  return { pointer, encoding, hash: "0".repeat(64) }
}
