import { expect, test } from "vitest"
import { lineMark } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "./index.ts"

test("times never decrease, even if the clock goes back", async () => {
  let now = 1_000
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location, clock: () => now })
  const head = await storage.append("a", ["{}"], { expect: 0 })
  now = 500
  await storage.append("b", ["{}"], { expect: 0 })
  await storage.append("a", ["{}"], { expect: head })
  expect((await storage.head("a"))?.updatedAt).toBe(1_000)
  expect((await storage.head("b"))?.updatedAt).toBe(1_000)
  now = 2_000
  const other = createMemoryStorage({ location, clock: () => now })
  await other.append("c", ["{}"], { expect: 0 })
  await storage.delete("c")
  now = 1_500
  await other.append("c", ["{}"], { expect: 0 })
  expect((await storage.head("c"))?.updatedAt).toBe(2_000)
})

test("limits have defaults", () => {
  const { maxLineBytes, maxBatchBytes, maxSessionBytes } = createMemoryStorage().capabilities
  expect({ maxLineBytes, maxBatchBytes, maxSessionBytes }).toEqual({
    maxLineBytes: 49_999_999,
    maxBatchBytes: 50_000_000,
    maxSessionBytes: 200_000_000,
  })
  expect(createMemoryStorage({ limits: { maxSessionBytes: 5 } }).capabilities).toMatchObject({
    maxSessionBytes: 5,
    maxBatchBytes: 50_000_000,
  })
})

test("a log may grow past maxSessionBytes, which core enforces", async () => {
  const storage = createMemoryStorage({ limits: { maxSessionBytes: 5 } })
  await expect(storage.append("a", ['{"longer":true}'], { expect: 0 })).resolves.toMatchObject({ next: 1 })
})

test("an ended watcher leaves no subscription", async () => {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  await storage.append("a", ["{}"], { expect: 0 })
  const start = (signal?: AbortSignal) => {
    const heads = createWatch(storage, signal)
    return { heads, first: heads.next() }
  }

  const controller = new AbortController()
  const aborted = start(controller.signal)
  const returned = start()
  await expect.poll(() => location.watchers.get("a")?.size).toBe(2)
  controller.abort()
  await returned.heads.return?.()
  await Promise.all([aborted.first, returned.first])
  expect(location.watchers.size).toBe(0)

  const deleted = start()
  await storage.delete("a")
  expect(await deleted.first).toEqual({ done: true, value: undefined })
  expect(location.watchers.size).toBe(0)

  await storage.append("a", ["{}"], { expect: 0 })
  const disposed = start()
  createWatch(storage)
  await expect.poll(() => location.watchers.get("a")?.size).toBe(1)
  await storage[Symbol.asyncDispose]()
  expect(await disposed.first).toEqual({ done: true, value: undefined })
  expect(location.watchers.size).toBe(0)
})

test("a slow watcher gets one head for many appends, the last one", async () => {
  const storage = createMemoryStorage()
  let head = await storage.append("a", ["{}"], { expect: 0 })
  const heads = createWatch(storage)
  const first = heads.next()
  for (let n = 0; n < 100; n++) head = await storage.append("a", ["{}"], { expect: head })
  const { value } = await first
  const seen = value?.next === 101 ? value : (await heads.next()).value
  expect(seen).toEqual({ ...head, mark: lineMark("{}") })
  await heads.return?.()
})

test("a storage without a location shares its sessions with no other", async () => {
  const storage = createMemoryStorage()
  await storage.append("a", ["{}"], { expect: 0 })
  expect(await createMemoryStorage().head("a")).toBeUndefined()
  expect(storage.capabilities.writers).toBe("instance")
  expect(createMemoryStorage({ location: createMemoryLocation() }).capabilities.writers).toBe("host")
})

function createWatch(storage: ReturnType<typeof createMemoryStorage>, signal?: AbortSignal) {
  const heads = storage.watch?.("a", signal === undefined ? {} : { signal })[Symbol.asyncIterator]()
  if (heads === undefined) throw new TypeError("The storage has no watch().")
  return heads
}

test.each([
  [null, "createMemoryStorage takes an object with the options limits, clock, location, not null."],
  ["memory", "createMemoryStorage takes an object with the options"],
  [{ limit: {} }, 'createMemoryStorage has no option "limit". Did you mean "limits"?'],
  [{ limits: null }, "createMemoryStorage, limits takes an object with the options maxLineBytes,"],
  [{ limits: { maxBatchByte: 5 } }, 'no option "maxBatchByte". Did you mean "maxBatchBytes"?'],
  [{ limits: { maxBatchBytes: "5" } }, "`maxBatchBytes` must be a whole number above 0."],
  [{ clock: 5 }, "`clock` must be a function."],
  [{ location: {} }, "`location` must come from createMemoryLocation()."],
])("wrong options are `invalid`, with a sentence that says what to do: %j", (options, message) => {
  expect(() => createMemoryStorage(options as object)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
  )
})
