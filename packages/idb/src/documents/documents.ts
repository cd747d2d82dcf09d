/** Small named texts with compare-and-set, one row each. */
import type { DocumentAdapter } from "@sessions/core/storage"
import { type Describe, is, string, type } from "superstruct"
import { corruptError, unknownOutcomeError } from "../database/errors.ts"
import { free, readTransaction, unawaited, writeRepeatably } from "../database/transaction.ts"
import type { DatabaseContext } from "../schema.ts"

export function createDocuments(context: DatabaseContext): DocumentAdapter {
  return {
    get: (key) => readTransaction(context, ["docs"], async (tx) => textOf(key, await tx.objectStore("docs").get(key))),

    compareAndSet(key, from, to) {
      const write = to === null ? free : writeRepeatably
      return write(context, ["docs"], async (tx, isRepeat) => {
        const store = tx.objectStore("docs")
        const stored = textOf(key, await store.get(key)) ?? null
        if (stored !== from) {
          if (!isRepeat || stored === to) return isRepeat
          // The first attempt may have made the change, and another writer may have changed the document since.
          throw unknownOutcomeError()
        }
        unawaited(to === null ? store.delete(key) : store.put({ text: to }, key))
        return true
      })
    },

    async *list(prefix) {
      // Keys are ASCII, so `\uffff` sorts after every key that begins with the prefix.
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`)
      yield await readTransaction(context, ["docs"], (tx) => tx.objectStore("docs").getAllKeys(range))
    },
  }
}

function textOf(key: string, row: unknown): string | undefined {
  if (row === undefined) return undefined
  if (is(row, DOCUMENT)) return row.text
  throw corruptError(`The document ${key} is damaged`, { at: key })
}

const DOCUMENT: Describe<{ text: string }> = type({ text: string() })
