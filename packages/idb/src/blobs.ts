import { type BlobInfo, type BlobStore, checkHash, sha256Hex, StorageError } from "@sessions/core/storage"
import type { Environment } from "./environment.ts"
import { corrupt } from "./errors.ts"
import { reading, sent, writingTwice } from "./transact.ts"

/** Blobs whose keys and sizes a listing loads at once. */
const PAGE = 1_000

export function createBlobs(env: Environment): BlobStore {
  const { connection, durability } = env
  return {
    put(bytes, o) {
      return env.call({ doing: "keep a blob", writes: true }, o, async () => {
        if (!(bytes instanceof Uint8Array)) throw new StorageError("invalid", "A blob is a Uint8Array.")
        // Hashing takes a turn of the event loop, in which the caller may change its array; a piece of a larger buffer would take all of it along.
        const copy = bytes.slice()
        const hash = await sha256Hex(copy)
        env.enter(o)
        await writingTwice(connection, ["blobs", "blobBytes"], durability, async (tx) => {
          const before = await tx.objectStore("blobs").get(hash)
          if (before === undefined) sent(tx.objectStore("blobBytes").put(copy, hash))
          const putAt = Math.max(before?.putAt ?? 0, Date.now())
          sent(tx.objectStore("blobs").put({ bytes: copy.length, putAt }, hash))
        })
        return hash
      })
    },

    get(hash, o) {
      return env.call({ doing: "read a blob", at: hash }, o, async () => {
        checkHash(hash)
        const bytes: unknown = await reading(connection, ["blobBytes"], (tx) => tx.objectStore("blobBytes").get(hash))
        if (bytes === undefined || bytes instanceof Uint8Array) return bytes
        throw corrupt(`The blob ${hash} is not one that was written here`, { at: hash })
      })
    },

    has(hash, o) {
      return env.call({ doing: "look for a blob", at: hash }, o, async () => {
        checkHash(hash)
        return (await reading(connection, ["blobs"], (tx) => tx.objectStore("blobs").getKey(hash))) !== undefined
      })
    },

    delete(hash, o) {
      return env.call({ doing: "delete a blob", at: hash, writes: true }, o, async () => {
        checkHash(hash)
        return writingTwice(connection, ["blobs", "blobBytes"], durability, async (tx) => {
          const blob = await tx.objectStore("blobs").get(hash)
          if (blob === undefined || blob.putAt >= (o?.ifPutBefore ?? Number.POSITIVE_INFINITY)) return false
          sent(tx.objectStore("blobs").delete(hash))
          sent(tx.objectStore("blobBytes").delete(hash))
          return true
        })
      })
    },

    async *list(o) {
      let after = ""
      for (;;) {
        const page = await env.call({ doing: "list blobs" }, o, () =>
          reading(connection, ["blobs"], async (tx) => {
            const range = IDBKeyRange.lowerBound(after, true)
            const store = tx.objectStore("blobs")
            const [keys, rows] = await Promise.all([store.getAllKeys(range, PAGE), store.getAll(range, PAGE)])
            return keys.map((hash, index): BlobInfo => ({ hash, ...(rows[index] ?? { bytes: 0, putAt: 0 }) }))
          }),
        )
        for (const blob of page) {
          env.enter(o)
          yield blob
        }
        if (page.length < PAGE) return
        after = page.at(-1)?.hash ?? ""
      }
    },
  }
}
