/** What leaves the lines of appended entries for the blob store. */
import { applyBlobs, planBlobs } from "../format/blob-refs.ts"
import type { BlobLimits, BlobRef, PlannedBlob } from "../format/blob-refs.ts"
import { encodeEntry } from "../format/line.ts"
import type { EncodedEntry } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { putBlobs } from "../log/blobs.ts"
import { persistently } from "../storage/retry.ts"
import type { PendingAppend } from "./pending.ts"
import type { Prepared } from "./prepare.ts"

export function planAppend(full: EncodedEntry, limits: BlobLimits): Pick<Prepared, "blobs" | "sized"> {
  const blobs = planBlobs(decodeEntry(full), limits)
  return { blobs, sized: blobs.length === 0 ? full : withBlobs(full, blobs.map(toZero)) }
}

/** Puts them, and completes the lines for the storage. */
export async function putPlanned(
  storage: SessionStorage,
  item: PendingAppend,
  fresh: readonly Prepared[],
): Promise<void> {
  for (const { pending, blobs } of fresh) {
    if (blobs.length === 0) continue
    const refs = await persistently(() => putBlobs(storage, blobs))
    const entry = item.entries.find((one) => one.id === pending.id)
    // Its parent may have changed meanwhile; that part stands before the seq.
    if (entry !== undefined) entry.stored = { before: entry.full.before, after: withBlobs(pending.full, refs).after }
  }
  item.putBlobs = undefined
  item.ready = undefined
}

/** A copy of an encoded entry, which nobody else holds. Its seq is 0. */
function decodeEntry({ before, after }: EncodedEntry): Entry {
  return JSON.parse(`${before}0${after}`) as Entry
}

/** The line with its blobs' references in place. */
function withBlobs(full: EncodedEntry, refs: readonly BlobRef[]): EncodedEntry {
  return encodeEntry(applyBlobs(decodeEntry(full), refs))
}

/** References are of one length, so that a line's size is known before its blobs are put. */
function toZero({ pointer, encoding }: PlannedBlob): BlobRef {
  return { pointer, encoding, hash: "0".repeat(64) }
}
