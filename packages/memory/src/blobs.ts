import type { BlobAdapter } from "@sessions/core/storage"
import type { MemoryLocation } from "./location.ts"
import { stamp } from "./location.ts"

/** Bytes are copied on the way out too, so that nobody holds the stored ones. */
export function createMemoryBlobs(location: MemoryLocation, clock: () => number): BlobAdapter {
  const { blobs } = location
  return {
    put: (hash, bytes) => blobs.set(hash, { bytes, putAt: stamp(location, clock) }),
    get: (hash) => blobs.get(hash)?.bytes.slice(),
    has: (hash) => blobs.has(hash),

    delete(hash, { ifPutBefore }) {
      const blob = blobs.get(hash)
      return blob !== undefined && blob.putAt < ifPutBefore && blobs.delete(hash)
    },

    async *list() {
      yield [...blobs].map(([hash, { bytes, putAt }]) => ({ hash, bytes: bytes.length, putAt }))
    },
  }
}
