/** Moves large strings and images of entries to the blob store and back. */
import { type BlobRef, blobRefs, type PlannedBlob, restoreBlobs } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { hasStorageCode, StorageError } from "../storage/errors.ts"
import { signalOf } from "../storage/signals.ts"

/** Concurrent requests: enough to hide a store's latency, few enough to hold the blobs in memory. */
const AT_ONCE = 8

/**
 * Puts the blobs and returns their references. One whose outcome is open is `unavailable`: the same bytes can be put again, and nothing of an
 * entry is in the log before its blobs are stored.
 */
export async function putBlobs(storage: SessionStorage, planned: readonly PlannedBlob[]): Promise<BlobRef[]> {
  return atOnce(planned, async ({ pointer, encoding, bytes }) => ({
    pointer,
    encoding,
    hash: await storage.blobs.put(bytes).catch((error: Error) => {
      throw hasStorageCode(error, "indeterminate")
        ? new StorageError("unavailable", error.message, { cause: error })
        : error
    }),
  }))
}

export interface RestoredEntries {
  readonly entries: readonly Entry[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Entries with their blobs back in place. Each blob is read once; a missing one leaves its reference, and a diagnostic. */
export async function restoreEntries(
  storage: SessionStorage,
  entries: readonly Entry[],
  o: CallOptions & { readonly foreign?: boolean } = {},
): Promise<RestoredEntries> {
  const hashes = new Set<string>()
  for (const entry of entries) for (const ref of blobRefs(entry, o)) hashes.add(ref.hash)
  if (hashes.size === 0) return { entries, diagnostics: [] }
  const found = new Map<string, Uint8Array>()
  await atOnce([...hashes], async (hash) => {
    const bytes = await storage.blobs.get(hash, signalOf(o))
    if (bytes !== undefined) found.set(hash, bytes)
  })
  const diagnostics: Diagnostic[] = []
  const restored = entries.map((entry) => {
    const { entry: whole, missing } = restoreBlobs(entry, (hash) => found.get(hash), o)
    for (const hash of missing) {
      const message = `Entry ${entry.id} refers to the blob ${hash}, which is not in ${storage.description}.`
      diagnostics.push({ code: "missing_blob", seq: entry.seq, entryId: entry.id, message })
    }
    return whole
  })
  return { entries: restored, diagnostics }
}

/** Maps the items, at most {@link AT_ONCE} at a time, and starts none after one has failed. Results are in the order of the items. */
export async function atOnce<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      try {
        results[at] = await map(items[at] as T)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  return results
}
