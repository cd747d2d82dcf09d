import { checkDocText, type DocStore, parseDocKey, StorageError } from "@sessions/core/storage"
import { type Describe, is, string, type } from "superstruct"
import type { Environment } from "./environment.ts"
import { corrupt } from "./errors.ts"
import { reading, sent, writingTwice } from "./transact.ts"

export function createDocs(env: Environment): DocStore {
  const { connection, durability } = env
  return {
    get(key, o) {
      return env.call({ doing: "read a document", at: key }, o, async () => {
        parseDocKey(key)
        const text = textOf(key, await reading(connection, ["docs"], (tx) => tx.objectStore("docs").get(key)))
        return text === undefined ? undefined : { text, version: versionOf(text) }
      })
    },

    put(key, text, o) {
      return env.call({ doing: "write a document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        checkDocText(text)
        checkExpect(o.expect)
        let tries = 0
        return writingTwice(connection, ["docs"], durability, async (tx) => {
          const stored = textOf(key, await tx.objectStore("docs").get(key))
          // After a connection was lost: the text is there, by whomever.
          if (tries++ > 0 && stored === text) return versionOf(text)
          demandVersion(key, o.expect, stored)
          sent(tx.objectStore("docs").put({ text }, key))
          return versionOf(text)
        })
      })
    },

    delete(key, o) {
      return env.call({ doing: "delete a document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        checkExpect(o.expect)
        let tries = 0
        await writingTwice(connection, ["docs"], durability, async (tx) => {
          const stored = textOf(key, await tx.objectStore("docs").get(key))
          if (tries++ > 0 && stored === undefined) return
          demandVersion(key, o.expect, stored)
          sent(tx.objectStore("docs").delete(key))
        })
      })
    },

    async *list(prefix = "", o) {
      const keys = await env.call({ doing: "list documents" }, o, () =>
        // Keys are ASCII, so that this is above all that begin with the prefix.
        reading(connection, ["docs"], (tx) =>
          tx.objectStore("docs").getAllKeys(IDBKeyRange.bound(prefix, `${prefix}\uffff`)),
        ),
      )
      for (const key of keys) {
        env.enter(o)
        yield key
      }
    },
  }
}

/** The text itself, marked: exactly as equal as the texts are, and at hand in pages without Web Crypto. */
function versionOf(text: string): string {
  return `v:${text}`
}

function textOf(key: string, row: unknown): string | undefined {
  if (row === undefined) return undefined
  if (is(row, DOC)) return row.text
  throw corrupt(`The document ${key} is not one that was written here`, { at: key })
}

const DOC: Describe<{ text: string }> = type({ text: string() })

function checkExpect(expect: unknown): void {
  if (expect !== undefined) return
  throw new StorageError("invalid", "A document is changed against `expect`: the version it follows, or null for none.")
}

function demandVersion(key: string, expect: string | null, text: string | undefined): void {
  const stored = text === undefined ? null : versionOf(text)
  if (expect === stored) return
  const found = stored === null ? "is not there" : expect === null ? "is there already" : "has another version"
  throw new StorageError("conflict", `The document ${key} ${found}. Get it again.`, { at: key })
}
