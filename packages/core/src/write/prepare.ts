/** From what a caller appends to an entry that can be placed. Pure. */
import { doesHoldBlobs } from "../format/blob-signs.ts"
import type { BlobLimits, PlannedBlob } from "../format/blob-refs.ts"
import { encodeEntry } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { EntryPayload } from "../format/new-entry.ts"
import { placeEntry } from "../format/normalize.ts"
import type { EntryPlace } from "../format/normalize.ts"
import type { Entry } from "../format/records.ts"
import type { PendingEntry, PlaceHint } from "./pending.ts"

export interface Prepared {
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

/** What is done with what is too large for a line. Its code may not be loaded. */
export interface Outside {
  /** What leaves the line, and the line as long as it will be then. */
  readonly planAppend: (full: EncodedEntry, limits: BlobLimits) => Pick<Prepared, "blobs" | "sized">
  readonly truncateOversize: (payload: EntryPayload, limits: BlobLimits) => EntryPayload
}

/** `aside`: see {@link PendingEntry.aside}. Undefined: it may hold what is too large for a line, and {@link Outside} is missing. */
export function prepareEntry(
  given: EntryPayload,
  place: EntryPlace,
  { aside, outside }: { readonly aside: boolean; readonly outside: Outside | undefined },
  { blobs: limits, oversize }: PrepareOptions,
): Prepared | undefined {
  if (oversize === "truncate" && outside === undefined) return undefined
  const payload = oversize === "truncate" && outside !== undefined ? outside.truncateOversize(given, limits) : given
  const hint = hintFor(payload, place.parentId)
  const entry = placeEntry(hint === undefined ? payload : without(payload, hint.field), place)
  const full = encodeEntry(entry)
  const isLarge = doesHoldBlobs(full, limits)
  if (isLarge && outside === undefined) return undefined
  const pending: PendingEntry = {
    id: place.id,
    type: payload.type,
    parentId: place.parentId,
    full,
    stored: full,
    aside,
    ...(hint === undefined ? {} : { hint }),
  }
  const planned = isLarge ? outside?.planAppend(full, limits) : undefined
  return { entry, pending, ...(planned ?? { blobs: [], sized: full }) }
}

/** Which entries say where another one stands. A leaf's target is its parent. */
function hintFor(payload: EntryPayload, parentId: string | null): PlaceHint | undefined {
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

function toHint(field: PlaceHint["field"], targetId: unknown): PlaceHint | undefined {
  return typeof targetId === "string" ? { field, targetId } : undefined
}

function without(payload: EntryPayload, field: string): EntryPayload {
  const { [field]: _, ...rest } = payload as Record<string, unknown>
  return rest as unknown as EntryPayload
}
