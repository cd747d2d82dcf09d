/** From what a caller appends to an entry that can be placed. Pure. */
import { applyBlobs, mayHoldBlobs, planBlobs } from "../format/blob-refs.ts"
import type { BlobLimits, BlobRef, PlannedBlob } from "../format/blob-refs.ts"
import { encodeEntry } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { EntryPayload } from "../format/new-entry.ts"
import { placeEntry } from "../format/normalize.ts"
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { PendingEntry, PlaceHint } from "./pending.ts"

export interface Prepared {
  readonly entry: Entry
  readonly pending: PendingEntry
  /** What must be put before the line is written. */
  readonly blobs: readonly PlannedBlob[]
  /** The stored line as long as it will be. */
  readonly sized: EncodedEntry
}

export function prepareEntry(
  payload: EntryPayload,
  place: { readonly id: string; readonly parentId: string | null; readonly seq: Seq; readonly timestamp: string },
  limits: BlobLimits,
): Prepared {
  const hint = hintFor(payload)
  const entry = placeEntry(hint === undefined ? payload : without(payload, hint.field), place)
  const full = encodeEntry(entry)
  const blobs = mayHoldBlobs(full, limits)
    ? planBlobs(JSON.parse(`${full.before}0${full.after}`) as object, limits)
    : []
  const pending: PendingEntry = {
    id: place.id,
    type: payload.type,
    parentId: place.parentId,
    full,
    stored: full,
    ...(hint === undefined ? {} : { hint }),
  }
  return { entry, pending, blobs, sized: blobs.length === 0 ? full : withBlobs(full, blobs.map(toZero)) }
}

/** The line with its blobs' references in place. */
export function withBlobs(full: EncodedEntry, refs: readonly BlobRef[]): EncodedEntry {
  return encodeEntry(applyBlobs(JSON.parse(`${full.before}0${full.after}`) as Entry, refs))
}

/** References are of one length, so that a line's size is known before its blobs are put. */
function toZero({ pointer, encoding }: PlannedBlob): BlobRef {
  return { pointer, encoding, hash: "0".repeat(64) }
}

/** Which entries say where another one stands. A leaf's target is its parent. */
function hintFor(payload: EntryPayload): PlaceHint | undefined {
  const fields = payload as Readonly<Record<string, unknown>>
  const target = fields["type"] === "compaction" ? fields["firstKeptEntryId"] : fields["targetId"]
  if (typeof target !== "string") return undefined
  switch (fields["type"]) {
    case "compaction":
      return { field: "firstKeptSeq", targetId: target }
    case "tombstone":
    case "context_edit":
    case "label":
      return { field: "targetSeq", targetId: target }
    default:
      return undefined
  }
}

function without(payload: EntryPayload, field: string): EntryPayload {
  const { [field]: _, ...rest } = payload as Record<string, unknown>
  return rest as unknown as EntryPayload
}
