import type { BlobStore, CallOptions } from "@sessions/core/storage"
import { checkHash, sha256Hex, StorageError } from "@sessions/core/storage"
import type { MemoryLocation } from "./location.ts"
import { stamp } from "./location.ts"

/** Bytes are copied on the way in and out, so that nobody holds the stored ones. `enter` as for documents. */
export function createMemoryBlobs(
  location: MemoryLocation,
  clock: () => number,
  enter: (o: CallOptions | undefined) => void,
): BlobStore {
  const { blobs } = location
  return {
    async put(bytes, o) {
      enter(o)
      if (!(bytes instanceof Uint8Array)) throw new StorageError("invalid", "A blob is a Uint8Array.")
      const copy = bytes.slice()
      const hash = await sha256Hex(copy)
      enter(o)
      blobs.set(hash, { bytes: copy, putAt: stamp(location, clock) })
      return hash
    },

    async get(hash, o) {
      enter(o)
      checkHash(hash)
      return blobs.get(hash)?.bytes.slice()
    },

    async has(hash, o) {
      enter(o)
      checkHash(hash)
      return blobs.has(hash)
    },

    async delete(hash, o) {
      enter(o)
      checkHash(hash)
      const blob = blobs.get(hash)
      if (blob === undefined || blob.putAt >= (o?.ifPutBefore ?? Number.POSITIVE_INFINITY)) return false
      return blobs.delete(hash)
    },

    async *list(o) {
      enter(o)
      const rows = [...blobs]
      for (const [hash, blob] of rows) {
        enter(o)
        yield { hash, bytes: blob.bytes.length, putAt: blob.putAt }
      }
    },
  }
}
