import type { BlobInfo } from "@sessions/core/storage"
import type { Environment } from "../environment.ts"
import { corrupt } from "../database/errors.ts"
import { reading, sent, writingTwice } from "../database/transaction.ts"

/** Blobs whose keys and sizes a listing loads at once. */
const PAGE = 1_000

export async function put({ connection, durability }: Environment, hash: string, bytes: Uint8Array): Promise<void> {
  await writingTwice(connection, ["blobs", "blobBytes"], durability, async (tx) => {
    const before = await tx.objectStore("blobs").get(hash)
    if (before === undefined) sent(tx.objectStore("blobBytes").put(bytes, hash))
    const putAt = Math.max(before?.putAt ?? 0, Date.now())
    sent(tx.objectStore("blobs").put({ bytes: bytes.length, putAt }, hash))
  })
}

export async function get({ connection }: Environment, hash: string): Promise<Uint8Array | undefined> {
  const bytes: unknown = await reading(connection, ["blobBytes"], (tx) => tx.objectStore("blobBytes").get(hash))
  if (bytes === undefined || bytes instanceof Uint8Array) return bytes
  throw corrupt(`The blob ${hash} is not one that was written here`, { at: hash })
}

export function has({ connection }: Environment, hash: string): Promise<boolean> {
  return reading(connection, ["blobs"], async (tx) => (await tx.objectStore("blobs").getKey(hash)) !== undefined)
}

export function remove({ connection, durability }: Environment, hash: string, ifPutBefore: number): Promise<boolean> {
  return writingTwice(connection, ["blobs", "blobBytes"], durability, async (tx) => {
    const blob = await tx.objectStore("blobs").get(hash)
    if (blob === undefined || blob.putAt >= ifPutBefore) return false
    sent(tx.objectStore("blobs").delete(hash))
    sent(tx.objectStore("blobBytes").delete(hash))
    return true
  })
}

export async function* list({ connection }: Environment): AsyncGenerator<readonly BlobInfo[], void, undefined> {
  let after = ""
  for (;;) {
    const page = await reading(connection, ["blobs"], async (tx) => {
      const range = IDBKeyRange.lowerBound(after, true)
      const store = tx.objectStore("blobs")
      const [keys, rows] = await Promise.all([store.getAllKeys(range, PAGE), store.getAll(range, PAGE)])
      return keys.map((hash, index): BlobInfo => ({ hash, ...(rows[index] ?? { bytes: 0, putAt: 0 }) }))
    })
    yield page
    if (page.length < PAGE) return
    after = page.at(-1)?.hash ?? ""
  }
}
