import type { DocumentAdapter } from "@sessions/core/storage"
import { type Describe, is, string, type } from "superstruct"
import type { Environment } from "../environment.ts"
import { corrupt } from "../database/errors.ts"
import { reading, sent, writingTwice } from "../database/transaction.ts"

export function createDocs({ connection, durability }: Environment): DocumentAdapter {
  return {
    get: (key) => reading(connection, ["docs"], async (tx) => textOf(key, await tx.objectStore("docs").get(key))),

    compareAndSet(key, from, to) {
      let tries = 0
      return writingTwice(connection, ["docs"], durability, async (tx) => {
        const store = tx.objectStore("docs")
        const stored = textOf(key, await store.get(key)) ?? null
        // After a connection was lost: it is as it should be, by whomever.
        if (tries++ > 0 && stored === to) return true
        if (stored !== from) return false
        sent(to === null ? store.delete(key) : store.put({ text: to }, key))
        return true
      })
    },

    async *list(prefix) {
      // Keys are ASCII, so that this is above all that begin with the prefix.
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`)
      yield await reading(connection, ["docs"], (tx) => tx.objectStore("docs").getAllKeys(range))
    },
  }
}

function textOf(key: string, row: unknown): string | undefined {
  if (row === undefined) return undefined
  if (is(row, DOC)) return row.text
  throw corrupt(`The document ${key} is not one that was written here`, { at: key })
}

const DOC: Describe<{ text: string }> = type({ text: string() })
