/** Replaces a document, and recognizes its own text if the storage refuses the change. */
import { hasStorageCode, type SessionStorage } from "@sessions/core/storage"
import * as z from "zod"
import { repeatsOf } from "../repeats.ts"

/** The texts as they were and as they shall be; null: no document. A version is derived from the text, so it does not travel. */
export interface DocumentChange {
  readonly from: string | null
  readonly to: string | null
}

export const documentChange: z.ZodType<DocumentChange> = z.strictObject({
  from: z.string().nullable(),
  to: z.string().nullable(),
})

/** No text has it, so the storage refuses the change in its own words. */
const NO_VERSION = ""

/** Rejects with `conflict` if the document is another one. A repeat gets the outcome of its first request. */
export function changeDocument(
  storage: SessionStorage,
  key: string,
  { from, to }: DocumentChange,
  id: string | undefined,
): Promise<void> {
  const { docs } = storage
  const repeats = repeatsOf(storage)
  return repeats.once(id && `document ${key} ${id}`, async () => {
    const stored = await docs.get(key)
    const expect = (stored?.text ?? null) === from ? (stored?.version ?? null) : NO_VERSION
    try {
      if (to === null) await docs.delete(key, { expect: expect ?? NO_VERSION })
      else await docs.put(key, to, { expect })
    } catch (error) {
      if (!hasStorageCode(error, "conflict") || to === null) throw error
      const writer = repeats.writerOf(placeOf(key))
      if (writer !== undefined && writer !== id) throw error
      if ((await docs.get(key))?.text !== to) throw error
    }
    repeats.wrote(placeOf(key), id)
  })
}

function placeOf(key: string): string {
  return `document ${key}`
}
