/** On an IndexedDB in memory, also in Node. */
import { expect, onTestFinished, test } from "vitest"
import { createConnection } from "../src/database/connection.ts"
import { databaseOf } from "../src/schema.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

test("a call that gets the open database adds nothing to the opening, which would keep it as long as that is open", async () => {
  const connection = createConnection(databaseOf("connection"))
  onTestFinished(() => connection.close())
  const db = await connection.get()
  const then: unknown = Reflect.get(Promise.prototype, "then")
  let added = 0
  Reflect.set(Promise.prototype, "then", function (this: unknown, ...args: unknown[]): unknown {
    added++
    return Reflect.apply(then as () => unknown, this, args)
  })
  const again = await connection.get()
  Reflect.set(Promise.prototype, "then", then)
  expect(again).toBe(db)
  expect(added).toBe(0)
})
