/** Pages without some browser features, the space of the site, and notifications between tabs. */
import { expect, onTestFinished, test } from "vitest"
import { newDatabase, open } from "./databases.ts"

test("without BroadcastChannel a watcher still yields another tab's append", async () => {
  const database = newDatabase()
  onTestFinished(replace("BroadcastChannel", undefined))
  const [writer, reader] = [open(database), open(database)]
  let head = await writer.append("a", ["1"], { expect: 0 })
  for await (const { next } of reader.watch("a")) {
    if (next === 3) break
    head = await writer.append("a", [`${next + 1}`], { expect: head })
  }
  expect(head.next).toBe(3)
})

test("without crypto.subtle, as on insecure pages, blobs are `unsupported` and everything else works", async () => {
  const storage = open(newDatabase())
  const withoutSubtle = { getRandomValues: crypto.getRandomValues.bind(crypto) }
  await without("crypto", withoutSubtle, () => storage.append("a", ["1"], { expect: 0 }))
  const version = await without("crypto", withoutSubtle, () => storage.docs.put("name", "text", { expect: null }))
  expect(await storage.docs.get("name")).toEqual({ text: "text", version })
  await expect(without("crypto", withoutSubtle, () => storage.blobs.put(new Uint8Array(1)))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("https"),
  })
})

test("without navigator.storage nothing is persisted and there is no estimate", async () => {
  const storage = open(newDatabase())
  expect(await without("navigator", {}, () => storage.persist())).toBe(false)
  expect(await without("navigator", {}, () => storage.persisted())).toBe(false)
  expect(await without("navigator", {}, () => storage.estimate())).toBeUndefined()
})

test("the estimate is in bytes, if the browser gives one", async () => {
  const estimate = await open(newDatabase()).estimate()
  if (estimate === undefined) expect((navigator as Partial<Navigator>).storage).toBeUndefined()
  else expect(estimate.quota).toBeGreaterThan(estimate.usage)
})

test("many appends notify other tabs seldom, the first at once and the last before the storage closes", async () => {
  const posted: unknown[] = []
  class Channel extends EventTarget {
    postMessage(message: unknown): void {
      posted.push(message)
    }
    close(): void {}
  }
  onTestFinished(replace("BroadcastChannel", Channel))
  const storage = open(newDatabase())
  let head = await storage.append("a", ["1"], { expect: 0 })
  expect(posted).toEqual(["a"])
  for (let n = 0; n < 50; n++) head = await storage.append("a", [`${n}`], { expect: head })
  await storage[Symbol.asyncDispose]()
  expect(posted.length).toBeGreaterThan(1)
  expect(posted.length).toBeLessThan(51)
})

/** Replaces a global only while a function runs, since the test runner uses it, too. */
function without<T>(name: string, instead: unknown, work: () => T): T {
  const restore = replace(name, instead)
  try {
    return work()
  } finally {
    restore()
  }
}

function replace(name: string, instead: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name)
  Object.defineProperty(globalThis, name, { value: instead, configurable: true, writable: true })
  return () => {
    if (before === undefined) Reflect.deleteProperty(globalThis, name)
    else Object.defineProperty(globalThis, name, before)
  }
}
