/** What leaves the lines of appended entries for the blob store. */
import type { SessionStorage } from "../storage/contract.ts"
import { putBlobs } from "../log/blobs.ts"
import { retryUnavailable } from "../storage/retry.ts"
import type { PendingAppend } from "./pending.ts"
import { withBlobs } from "./encode.ts"
import type { EncodedAppendEntry } from "./encode.ts"

/** Puts them, and completes the lines for the storage. */
export async function putPlanned(
  storage: SessionStorage,
  item: PendingAppend,
  fresh: readonly EncodedAppendEntry[],
): Promise<void> {
  for (const { pending, blobs } of fresh) {
    if (blobs.length === 0) continue
    const refs = await retryUnavailable(() => putBlobs(storage, blobs))
    const entry = item.entries.find((one) => one.id === pending.id)
    // Its parent may have changed meanwhile; that part stands before the seq.
    if (entry !== undefined) entry.stored = { before: entry.full.before, after: withBlobs(pending.full, refs).after }
  }
  item.putBlobs = undefined
  item.ready = undefined
}
