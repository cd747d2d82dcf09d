import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { docKey } from "./info-store.ts"
import type { InfoFold } from "./info.ts"

/** Writes the document. Somebody else's, written at once, is as good. */
export async function keepFold(
  storage: SessionStorage,
  id: string,
  fold: InfoFold,
  o: CallOptions = {},
): Promise<void> {
  const key = docKey(id)
  const isThere = async (): Promise<boolean> => (await storage.head(id, o))?.log === fold.log
  try {
    if (!(await isThere())) return
    const doc = await storage.docs.get(key, o)
    const version = await storage.docs.put(key, JSON.stringify(fold), { ...o, expect: doc?.version ?? null })
    // Deleting took the session's documents along; one that came just after it would stay behind for ever.
    if (!(await isThere())) await storage.docs.delete(key, { ...o, expect: version })
  } catch (error) {
    // A cache: a store that is read-only or full still answers, and a lost race wrote what this would have.
    if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
  }
}
