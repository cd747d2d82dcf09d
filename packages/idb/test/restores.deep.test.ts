/** Rows of an older state are put back in one transaction. */
import { createIndexedDbStorage } from "@sessions/idb"
import { openDB } from "idb"
import { expect, test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { checkRestores, type Restorable } from "../../core/test/restores.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

const STORES = ["heads", "log"]
let databases = 0

function makeStore(): Restorable {
  const database = `restores-${databases++}`
  return {
    open: () => createIndexedDbStorage({ database }),
    async backup() {
      const db = await openDB(database)
      const tx = db.transaction(STORES)
      const rows = await Promise.all(
        STORES.map(async (name) => {
          const store = tx.objectStore(name)
          const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()])
          return { name, inline: store.keyPath !== null, keys, values }
        }),
      )
      db.close()
      return async () => {
        const again = await openDB(database)
        const put = again.transaction(STORES, "readwrite")
        for (const { name, inline, keys, values } of rows) {
          const store = put.objectStore(name)
          void store.clear()
          values.forEach((value, n) => void store.put(value, inline ? undefined : keys[n]))
        }
        await put.done
        again.close()
      }
    },
  }
}

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  const count = rounds(1_000)
  expect(await checkRestores(makeStore, count)).toBe(count)
})
