/** What a page may lack, and what the browser says of its space. */
import { expect, test } from "vitest"
import { newDatabase, open } from "./databases.ts"

test("without BroadcastChannel a watcher still hears of another tab's append", async () => {
  const database = newDatabase()
  const [writer, reader] = without("BroadcastChannel", undefined, () => [open(database), open(database)] as const)
  let head = await writer.append("a", ["1"], { expect: 0 })
  for await (const { next } of reader.watch("a")) {
    if (next === 3) break
    head = await writer.append("a", [`${next + 1}`], { expect: head })
  }
  expect(head.next).toBe(3)
})

test("without crypto.subtle, as on insecure pages, blobs say what to do, and all else works", async () => {
  const storage = open(newDatabase())
  const poor = { getRandomValues: crypto.getRandomValues.bind(crypto) }
  await without("crypto", poor, () => storage.append("a", ["1"], { expect: 0 }))
  const version = await without("crypto", poor, () => storage.docs.put("name", "text", { expect: null }))
  expect(await storage.docs.get("name")).toEqual({ text: "text", version })
  await expect(without("crypto", poor, () => storage.blobs.put(new Uint8Array(1)))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("https"),
  })
})

test("without navigator.storage nothing is promised and nothing is known", async () => {
  const storage = open(newDatabase())
  expect(await without("navigator", {}, () => storage.persist())).toBe(false)
  expect(await without("navigator", {}, () => storage.persisted())).toBe(false)
  expect(await without("navigator", {}, () => storage.estimate())).toBeUndefined()
})

test("where the browser says how much there is, the estimate is in bytes", async () => {
  const room = await open(newDatabase()).estimate()
  if (room === undefined) expect((navigator as Partial<Navigator>).storage).toBeUndefined()
  else expect(room.quota).toBeGreaterThan(room.usage)
})

test("many appends ring other tabs seldom, the first one at once and the last one before the storage closes", async () => {
  const posted: unknown[] = []
  class Channel extends EventTarget {
    postMessage(message: unknown): void {
      posted.push(message)
    }
    close(): void {}
  }
  const storage = without("BroadcastChannel", Channel, () => open(newDatabase()))
  let head = await storage.append("a", ["1"], { expect: 0 })
  expect(posted).toEqual(["a"])
  for (let n = 0; n < 50; n++) head = await storage.append("a", [`${n}`], { expect: head })
  await storage[Symbol.asyncDispose]()
  expect(posted.length).toBeGreaterThan(1)
  expect(posted.length).toBeLessThan(51)
})

/** For as long as a function runs, and no longer: the test runner uses these things, too. */
function without<T>(name: string, instead: unknown, work: () => T): T {
  const before = Object.getOwnPropertyDescriptor(globalThis, name)
  Object.defineProperty(globalThis, name, { value: instead, configurable: true, writable: true })
  try {
    return work()
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, name)
    else Object.defineProperty(globalThis, name, before)
  }
}
