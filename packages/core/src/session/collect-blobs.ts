/** `collectBlobs` of the main entry. Its code is loaded on first use. */
import type { CollectedBlobs, CollectOptions } from "../storage/collect.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { transferFeature } from "./features.ts"

/**
 * Removes the blobs that no log and no document of the storage mentions and whose last put is older than `olderThan`. Safe beside
 * writers: a writer puts a blob before it appends the line that refers to it, and the put renews the blob.
 *
 * Every session is read, chunk by chunk. If some cannot be read (`corrupt`, `unsupported`, `unavailable`), the collection rejects
 * before anything is removed, since their references are unknown. The error names them, has the code of the first, and an
 * `AggregateError` of all as its cause; `unreadable` excepts them. Also `unavailable` if sessions were created and deleted so fast that
 * no pass read them all.
 */
export async function collectBlobs(storage: SessionStorage, o?: CollectOptions): Promise<CollectedBlobs> {
  return (await transferFeature()).collectBlobs(storage, o)
}
