/** Binary objects by hash. Sizes and times have a store of their own, so that a listing loads no bytes. */
import type { BlobInfo, BlobAdapter } from "@sessions/core/storage"
import { corrupt } from "../database/errors.ts"
import { type DatabaseContext, readTransaction, unawaited, writeIdempotent } from "../database/transaction.ts"

/** How many rows one transaction of a listing loads. */
const PAGE = 1_000

export function createBlobs(context: DatabaseContext): BlobAdapter {
  return {
    async put(hash, bytes) {
      await writeIdempotent(context, ["blobs", "blobBytes"], async (tx) => {
        const before = await tx.objectStore("blobs").get(hash)
        if (before === undefined) unawaited(tx.objectStore("blobBytes").put(bytes, hash))
        const putAt = Math.max(before?.putAt ?? 0, Date.now())
        unawaited(tx.objectStore("blobs").put({ bytes: bytes.length, putAt }, hash))
      })
    },

    async get(hash) {
      const bytes: unknown = await readTransaction(context, ["blobBytes"], (tx) =>
        tx.objectStore("blobBytes").get(hash),
      )
      if (bytes === undefined || bytes instanceof Uint8Array) return bytes
      throw corrupt(`The blob ${hash} is damaged`, { at: hash })
    },

    has: (hash) =>
      readTransaction(context, ["blobs"], async (tx) => (await tx.objectStore("blobs").getKey(hash)) !== undefined),

    delete: (hash, { ifPutBefore }) =>
      writeIdempotent(context, ["blobs", "blobBytes"], async (tx) => {
        const blob = await tx.objectStore("blobs").get(hash)
        if (blob === undefined || blob.putAt >= ifPutBefore) return false
        unawaited(tx.objectStore("blobs").delete(hash))
        unawaited(tx.objectStore("blobBytes").delete(hash))
        return true
      }),

    async *list() {
      let after = ""
      for (;;) {
        const page = await readTransaction(context, ["blobs"], async (tx) => {
          const range = IDBKeyRange.lowerBound(after, true)
          const store = tx.objectStore("blobs")
          const [keys, rows] = await Promise.all([store.getAllKeys(range, PAGE), store.getAll(range, PAGE)])
          return keys.map((hash, index): BlobInfo => ({ hash, ...(rows[index] ?? { bytes: 0, putAt: 0 }) }))
        })
        yield page
        if (page.length < PAGE) return
        after = page.at(-1)?.hash ?? ""
      }
    },
  }
}
