/** Changes a document that other programs may change at the same time. */
import type { CallOptions, DocStore } from "./contract.ts"
import { retryOn } from "./retry.ts"

/** Attempts; more conflicts in a row come from a faulty storage, not from other writers. */
const TRIES = 20

/**
 * Replaces the text of a document by what `change` makes of it; null deletes the document, and the same
 * text writes nothing. Begins again after a conflict.
 */
export function updateDoc(
  docs: DocStore,
  key: string,
  change: (text: string | undefined) => string | null,
  o: CallOptions,
): Promise<void> {
  return retryOn("conflict", TRIES, async () => {
    const doc = await docs.get(key, o)
    const text = change(doc?.text)
    if (text === doc?.text) return
    if (text !== null) await docs.put(key, text, { ...o, expect: doc?.version ?? null })
    else if (doc !== undefined) await docs.delete(key, { ...o, expect: doc.version })
  })
}
