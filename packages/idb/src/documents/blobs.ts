/** Binary objects by hash. Sizes and times have a store of their own, so that a listing loads no bytes. */
import type { BlobAdapter, BlobInfo } from "@sessions/core/storage"
import { type Describe, is, number, type } from "superstruct"
import { corruptError } from "../database/errors.ts"
import { free, readTransaction, unawaited, writeRepeatably } from "../database/transaction.ts"
import type { DatabaseContext, WriteTransaction } from "../schema.ts"

/** How many rows one transaction of a listing loads. */
const PAGE = 1_000

export function createBlobs(context: DatabaseContext): BlobAdapter {
  return {
    async put(hash, bytes) {
      await writeRepeatably(context, ["blobs", "blobBytes"], async (tx) => {
        const before = await blobRow(tx, hash)
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
      throw corruptError(`The blob ${hash} is damaged`, { at: hash })
    },

    has: (hash) =>
      readTransaction(context, ["blobs"], async (tx) => (await tx.objectStore("blobs").getKey(hash)) !== undefined),

    delete: (hash, { ifPutBefore }) =>
      free(context, ["blobs", "blobBytes"], async (tx, isRepeat) => {
        const blob = await blobRow(tx, hash)
        // This call or another collector has removed it.
        if (blob === undefined) return isRepeat
        if (blob.putAt >= ifPutBefore) return false
        unawaited(tx.objectStore("blobs").delete(hash))
        unawaited(tx.objectStore("blobBytes").delete(hash))
        return true
      }),

    async *list() {
      let after = ""
      for (;;) {
        const { keys, rows } = await readTransaction(context, ["blobs"], async (tx) => {
          const range = IDBKeyRange.lowerBound(after, true)
          const store = tx.objectStore("blobs")
          const [keys, rows] = await Promise.all([store.getAllKeys(range, PAGE), store.getAll(range, PAGE)])
          return { keys, rows }
        })
        yield keys.map((hash, index): BlobInfo => ({ hash, ...checkBlobRow(rows[index], hash) }))
        if (keys.length < PAGE) return
        after = keys.at(-1) ?? ""
      }
    },
  }
}

interface BlobRow {
  bytes: number
  putAt: number
}

async function blobRow(tx: WriteTransaction, hash: string): Promise<BlobRow | undefined> {
  const row: unknown = await tx.objectStore("blobs").get(hash)
  return row === undefined ? undefined : checkBlobRow(row, hash)
}

function checkBlobRow(row: unknown, hash: string): BlobRow {
  if (is(row, BLOB)) return row
  throw corruptError(`The size and time of the blob ${hash} are damaged`, { at: hash })
}

const BLOB: Describe<BlobRow> = type({ bytes: number(), putAt: number() })
