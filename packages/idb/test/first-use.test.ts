/** A storage that is made and not used, as on a server that renders a page. On an IndexedDB in memory, also in Node. */
import { createIndexedDbStorage } from "@sessions/idb"
import { expect, onTestFinished, test } from "vitest"
import { newDatabase } from "./databases.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

test("a channel to other tabs, which keeps a process alive, is opened by the first write or watch, and closed with the storage", async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, "BroadcastChannel")
  let open = 0
  class Channel extends EventTarget {
    constructor() {
      super()
      open++
    }
    postMessage(): void {}
    close(): void {
      open--
    }
  }
  Object.defineProperty(globalThis, "BroadcastChannel", { value: Channel, configurable: true, writable: true })
  onTestFinished(() => void Object.defineProperty(globalThis, "BroadcastChannel", before ?? { value: undefined }))

  const unused = createIndexedDbStorage({ database: newDatabase() })
  expect(await unused.head("a")).toBeUndefined()
  expect(open).toBe(0)
  await unused[Symbol.asyncDispose]()
  expect(open).toBe(0)

  const written = createIndexedDbStorage({ database: newDatabase() })
  await written.append("a", ["1"], { expect: 0 })
  expect(open).toBe(1)
  await written[Symbol.asyncDispose]()
  expect(open).toBe(0)
})

test("if `navigator.storage` refuses, as in a sandboxed frame, nothing is persisted and there is no estimate", async () => {
  const refuse = (): never => {
    throw new TypeError("The operation is not supported.")
  }
  const storage = { persist: refuse, persisted: refuse, estimate: refuse }
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator")
  Object.defineProperty(globalThis, "navigator", { value: { storage }, configurable: true, writable: true })
  onTestFinished(() => void Object.defineProperty(globalThis, "navigator", before ?? { value: undefined }))
  const idb = createIndexedDbStorage({ database: newDatabase() })
  expect([await idb.persist(), await idb.persisted(), await idb.estimate()]).toEqual([false, false, undefined])
})
