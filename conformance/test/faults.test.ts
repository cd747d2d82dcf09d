import { register } from "@sessions/conformance"
import { createFaultyStorage, withFaults } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { changed } from "../src/mutants/sound-subjects.ts"

register(test, withFaults(changed("memory", () => ({}))))

const first = ['{"n":0}']
const second = ['{"n":1}', '{"n":2}']

async function faulty() {
  const location = createMemoryLocation()
  const storage = createFaultyStorage(createMemoryStorage({ location }))
  const head = await storage.append("a", first, { expect: 0 })
  return { storage, head, next: async () => (await storage.head("a"))?.next }
}

test("an error code rejects the call, which has no effect", async () => {
  const { storage, head, next } = await faulty()
  storage.fail("append", "quota")
  await expect(storage.append("a", second, { expect: head })).rejects.toMatchObject({ code: "quota" })
  expect(await next()).toBe(1)
})

test("a call with a lost response takes effect and is indeterminate", async () => {
  const { storage, head, next } = await faulty()
  storage.fail("append", "response lost")
  await expect(storage.append("a", second, { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  expect(await next()).toBe(3)
})

test("a late write takes effect at its delivery, if its head is still current", async () => {
  const { storage, head, next } = await faulty()
  storage.fail("append", "late", "late")
  await expect(storage.append("a", second, { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  await expect(storage.append("a", second, { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  expect([await next(), storage.late]).toEqual([1, 2])
  expect([await storage.deliver(), await storage.deliver(), await storage.deliver()]).toEqual([true, false, false])
  expect(await next()).toBe(3)
})

test("a prefix writes the first line of a batch, and nothing of a creation", async () => {
  const { storage, head, next } = await faulty()
  storage.fail("append", "prefix", "prefix")
  await expect(storage.append("a", second, { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  await expect(storage.append("b", second, { expect: 0 })).rejects.toMatchObject({ code: "indeterminate" })
  expect([await next(), await storage.head("b")]).toEqual([2, undefined])
})

test("a held call waits until it is released", async () => {
  const { storage, head, next } = await faulty()
  const release = storage.hold("append")
  const appending = storage.append("a", second, { expect: head })
  expect(await next()).toBe(1)
  release()
  expect((await appending).next).toBe(3)
})
