import { expect, test, vi } from "vitest"
import type { BlobInfo, Chunk, Head, ListedSession, SessionStorage } from "./contract.ts"
import { defineStorage } from "./define.ts"
import { StorageError } from "./errors.ts"
import type { StorageAdapter } from "./adapter.ts"

const HEAD: Head = { next: 2, log: "l" }
const EXPECT = { expect: HEAD }

/** An adapter that records what reaches it, and fails the test where a method is called that the test does not give. */
function recording(methods: Partial<StorageAdapter>, closed = vi.fn<() => void>()) {
  const unexpected = (): never => {
    throw new TypeError("the adapter was not to be called")
  }
  const adapter: StorageAdapter = {
    description: "test:here",
    capabilities: {
      durability: "none",
      atomicBatch: "all",
      writers: "any",
      listOrder: "id",
      maxLineBytes: 10,
      maxBatchBytes: 30,
      maxSessionBytes: 100,
    },
    append: unexpected,
    head: unexpected,
    read: unexpected,
    list: unexpected,
    delete: unexpected,
    docs: { get: unexpected, compareAndSet: unexpected, list: unexpected },
    blobs: { put: unexpected, get: unexpected, has: unexpected, delete: unexpected, list: unexpected },
    close: closed,
    ...methods,
  }
  return { storage: defineStorage(adapter) as Required<SessionStorage>, closed }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = []
  for await (const one of all) seen.push(one)
  return seen
}

async function* chunks(...all: readonly Chunk[]): AsyncGenerator<Chunk, void, undefined> {
  yield* all
}

test("a storage and its capabilities have the optional methods that the adapter has", async () => {
  const { storage } = recording({ sync: () => undefined })
  expect(storage.capabilities).toMatchObject({ sync: true, watch: false, replace: false, maxLineBytes: 10 })
  expect([typeof storage.sync, typeof storage.watch, typeof storage.replace]).toEqual([
    "function",
    "undefined",
    "undefined",
  ])
})

test("wrong arguments are rejected before the adapter is called", async () => {
  const { storage } = recording({ sync: () => undefined, replace: () => HEAD })
  const wrong: readonly Promise<unknown>[] = [
    storage.append("a/b", ["x"], EXPECT),
    storage.append("a", [], EXPECT),
    storage.append("a", ["12345678901"], EXPECT),
    storage.append("a", ["x"], undefined as never),
    storage.append("a", "x" as never, EXPECT),
    storage.head(".."),
    collect(storage.read("a", { from: -1 })),
    collect(storage.read("", {})),
    collect(storage.list({ limit: 0.5 })),
    collect(storage.list({ after: "../x" })),
    storage.delete(""),
    storage.sync("a b"),
    storage.replace("", chunks(), EXPECT),
    storage.replace("a", chunks(), { expect: 0 as never }),
    storage.docs.get("a/b"),
    storage.docs.put("a", "\ud800", { expect: null }),
    storage.docs.put("a", "x", undefined as never),
    storage.docs.put("a", "x", { expect: 1 as never }),
    storage.docs.delete("a", { expect: null as never }),
    storage.blobs.put("x" as never),
    storage.blobs.get("abc"),
    storage.blobs.has("ABC"),
    storage.blobs.delete("../x"),
  ]
  for (const call of wrong) await expect(call).rejects.toMatchObject({ code: "invalid", storage: "test:here" })
})

test("an adapter gets copies, and ranges, limits and conditions with their defaults", async () => {
  const seen: unknown[] = []
  const note = (...values: readonly unknown[]) => void seen.push(...values)
  const lines = ["x"]
  const bytes = Uint8Array.of(1, 2)
  const { storage } = recording({
    append: async (_, given) => {
      await Promise.resolve()
      note(given)
      return HEAD
    },
    read(_, range) {
      note(range)
      return chunks()
    },
    async *list(range) {
      note(range)
      yield []
    },
    blobs: {
      put: (hash, given) => note(hash.slice(0, 4), given),
      get: () => undefined,
      has: () => false,
      delete: (_, o) => (note(o), false),
      async *list() {},
    },
  })
  const appended = storage.append("a", lines, EXPECT)
  lines.push("y")
  await appended
  const put = storage.blobs.put(bytes)
  bytes[0] = 9
  await put
  await collect(storage.read("a"))
  await collect(storage.list())
  await storage.blobs.delete("0".repeat(64))
  expect(seen).toEqual([
    ["x"],
    "a128",
    Uint8Array.of(1, 2),
    { from: 0, to: Number.MAX_SAFE_INTEGER },
    { after: "", limit: Number.POSITIVE_INFINITY },
    { ifPutBefore: Number.POSITIVE_INFINITY },
  ])
})

test("an error of an adapter gets the missing storage, session and key, and keeps its own", async () => {
  const thrown: unknown[] = ["a text", new StorageError("quota", "Full."), undefined]
  const { storage } = recording({
    head: () => {
      throw thrown.shift()
    },
    docs: {
      get: () => {
        throw new StorageError("corrupt", "Bad.", { at: "row 7" })
      },
      compareAndSet: () => false,
      async *list() {},
    },
  })
  await expect(storage.head("a")).rejects.toMatchObject({
    code: "unavailable",
    storage: "test:here",
    session: "a",
    cause: "a text",
    message: "Could not read the head of the log (a text); repeat the call.",
  })
  await expect(storage.head("a")).rejects.toMatchObject({ code: "quota", storage: "test:here", session: "a" })
  await expect(storage.head("a")).rejects.toMatchObject({ code: "unavailable" })
  await expect(storage.docs.get("d")).rejects.toMatchObject({ code: "corrupt", storage: "test:here", at: "row 7" })
  await expect(storage.docs.put("d", "x", { expect: null })).rejects.toMatchObject({ code: "conflict", at: "d" })
})

test("an error of another storage, whose log is copied, keeps the name of that storage", async () => {
  const { storage } = recording({
    async replace(_, source) {
      await collect(source)
      return HEAD
    },
  })
  const other = new StorageError("unavailable", "Gone.", { storage: "other", session: "b" })
  const source: AsyncIterable<Chunk> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(other) }),
  }
  await expect(storage.replace("a", source, EXPECT)).rejects.toBe(other)
  expect(other).toMatchObject({ storage: "other", session: "b" })
})

test("the chunks of a replace must be contiguous, have valid lines and not be empty", async () => {
  const { storage } = recording({
    async replace(_, source) {
      await collect(source)
      return HEAD
    },
  })
  const replaced = (...all: readonly Chunk[]) => storage.replace("a", chunks(...all), EXPECT)
  await expect(replaced()).rejects.toMatchObject({ code: "invalid" })
  await expect(replaced({ from: 1, lines: ["x"] })).rejects.toMatchObject({ code: "invalid" })
  await expect(replaced({ from: 0, lines: ["x"] }, { from: 2, lines: ["x"] })).rejects.toMatchObject({
    code: "invalid",
  })
  await expect(replaced({ from: 0, lines: ["x\n"] })).rejects.toMatchObject({ code: "invalid" })
  // A log is larger than a batch may be.
  const long = Array.from({ length: 9 }, () => "1234567890")
  await expect(replaced({ from: 0, lines: long }, { from: 9, lines: ["x"] })).resolves.toEqual(HEAD)
})

test("the version of a document is derived from its text, and the adapter compares texts", async () => {
  let stored: string | undefined
  const { storage } = recording({
    docs: {
      get: () => stored,
      compareAndSet(_, from, to) {
        if ((stored ?? null) !== from) return false
        stored = to ?? undefined
        return true
      },
      async *list() {},
    },
  })
  const version = await storage.docs.put("d", "", { expect: null })
  expect(await storage.docs.get("d")).toEqual({ text: "", version })
  await expect(storage.docs.put("d", "x", { expect: null })).rejects.toMatchObject({ code: "conflict" })
  await expect(storage.docs.put("d", "x", { expect: "" })).rejects.toMatchObject({ code: "conflict" })
  const next = await storage.docs.put("d", "x", { expect: version })
  expect(next).not.toBe(version)
  await expect(storage.docs.delete("d", { expect: version })).rejects.toMatchObject({ code: "conflict" })
  await storage.docs.delete("d", { expect: next })
  expect(await storage.docs.get("d")).toBeUndefined()
})

test("a signal that has fired rejects the call before the adapter; one that fires later rejects it, and a write counts as sent", async () => {
  const { storage } = recording({})
  const aborted = AbortSignal.abort()
  await expect(storage.append("a", ["x"], { ...EXPECT, signal: aborted })).rejects.toMatchObject({ code: "aborted" })
  await expect(collect(storage.read("a", {}, { signal: aborted }))).rejects.toMatchObject({ code: "aborted" })

  const appending = deferred<Head>()
  const looking = deferred<undefined>()
  const slow = recording({ append: () => appending.promise, head: () => looking.promise })
  const controller = new AbortController()
  const append = slow.storage.append("a", ["x"], { ...EXPECT, signal: controller.signal })
  const head = slow.storage.head("a", { signal: controller.signal })
  controller.abort("enough")
  await expect(append).rejects.toMatchObject({ code: "aborted", sent: true, cause: "enough", session: "a" })
  await expect(head).rejects.toSatisfy((error: StorageError) => error.code === "aborted" && error.sent === undefined)
  // Their later outcomes are ignored and must not be unhandled rejections.
  appending.reject(new Error("late"))
  looking.reject(new Error("late"))
})

test("a call rejected by a signal that had fired before was not sent", async () => {
  const { storage } = recording({})
  const append = storage.append("a", ["x"], { ...EXPECT, signal: AbortSignal.abort() })
  await expect(append).rejects.toSatisfy((error: StorageError) => error.sent === undefined)
})

test("an adapter with `aborts` decides the outcome of an aborted call itself", async () => {
  const appending = deferred<Head>()
  const { storage } = recording({ aborts: true, append: () => appending.promise })
  const controller = new AbortController()
  const append = storage.append("a", ["x"], { ...EXPECT, signal: controller.signal })
  controller.abort()
  appending.resolve(HEAD)
  await expect(append).resolves.toEqual(HEAD)
})

test("disposal waits for pending calls, also for aborted ones, and closes the store once", async () => {
  const appending = deferred<Head>()
  const { storage, closed } = recording({ append: () => appending.promise })
  const controller = new AbortController()
  const append = storage.append("a", ["x"], { ...EXPECT, signal: controller.signal })
  controller.abort()
  await expect(append).rejects.toMatchObject({ code: "aborted" })
  const disposals = [storage[Symbol.asyncDispose](), storage[Symbol.asyncDispose]()]
  await expect(storage.head("a")).rejects.toMatchObject({ code: "closed" })
  expect(closed).not.toHaveBeenCalled()
  appending.resolve(HEAD)
  await Promise.all(disposals)
  await storage[Symbol.asyncDispose]()
  expect(closed).toHaveBeenCalledTimes(1)
})

test("the source of an idle reader is ended before the store is closed, and the reader gets `closed`", async () => {
  const ended = vi.fn<() => void>()
  const { storage, closed } = recording({
    async *read() {
      try {
        for (let from = 0; ; from++) yield { from, lines: ["x"] }
      } finally {
        ended()
      }
    },
  })
  const reader = storage.read("a")[Symbol.asyncIterator]()
  expect((await reader.next()).value).toEqual({ from: 0, lines: ["x"] })
  closed.mockImplementation(() => expect(ended).toHaveBeenCalledTimes(1))
  await storage[Symbol.asyncDispose]()
  expect(closed).toHaveBeenCalledTimes(1)
  await expect(reader.next()).rejects.toMatchObject({ code: "closed", session: "a" })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test("a step that runs while the storage is closed yields its result and ends its source", async () => {
  const ended = vi.fn<() => void>()
  const waiting = deferred<void>()
  const { storage } = recording({
    async *read() {
      try {
        await waiting.promise
        yield { from: 0, lines: ["x"] }
      } finally {
        ended()
      }
    },
  })
  const reader = storage.read("a")[Symbol.asyncIterator]()
  const step = reader.next()
  const disposed = storage[Symbol.asyncDispose]()
  waiting.resolve()
  await disposed
  expect(ended).toHaveBeenCalledTimes(1)
  expect((await step).value).toEqual({ from: 0, lines: ["x"] })
  await expect(reader.next()).rejects.toMatchObject({ code: "closed" })
})

test("the source ends before the store at every moment of closing between a step and its delivery to the reader", async () => {
  for (const signal of [undefined, new AbortController().signal]) {
    for (let turns = 0; turns < 20; turns++) {
      let open = 0
      const { storage, closed } = recording({
        async *read() {
          open++
          try {
            for (let from = 0; ; from++) yield { from, lines: ["x"] }
          } finally {
            open--
          }
        },
      })
      closed.mockImplementation(() => expect(open).toBe(0))
      const reader = storage.read("a", {}, { ...(signal && { signal }) })[Symbol.asyncIterator]()
      reader.next().catch(() => undefined)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await storage[Symbol.asyncDispose]()
      expect(closed).toHaveBeenCalledTimes(1)
    }
  }
})

test("a reader that stops, or whose signal fires during a step, ends its source", async () => {
  const ended = vi.fn<() => void>()
  const waiting = deferred<void>()
  const { storage } = recording({
    async *read() {
      try {
        yield { from: 0, lines: ["x"] }
        await waiting.promise
        yield { from: 1, lines: ["x"] }
      } finally {
        ended()
      }
    },
  })
  for await (const _ of storage.read("a")) break
  expect(ended).toHaveBeenCalledTimes(1)

  const controller = new AbortController()
  const reader = storage.read("a", {}, { signal: controller.signal })[Symbol.asyncIterator]()
  await reader.next()
  const next = reader.next()
  controller.abort()
  await expect(next).rejects.toMatchObject({ code: "aborted" })
  expect(ended).toHaveBeenCalledTimes(1)
  waiting.resolve()
  await storage[Symbol.asyncDispose]()
  expect(ended).toHaveBeenCalledTimes(2)
})

test("pages are yielded as single rows, at most `limit`, and end when the storage is closed", async () => {
  const row = (id: string): ListedSession => ({ id, next: 1, log: "l", bytes: 2, updatedAt: 1 })
  const pages = vi.fn<() => void>()
  const { storage } = recording({
    async *list() {
      for (const page of [["a", "b"], [], ["c", "d"], ["e"]]) {
        pages()
        yield page.map(row)
      }
    },
    blobs: {
      put: () => undefined,
      get: () => undefined,
      has: () => false,
      delete: () => false,
      async *list() {
        yield [1, 2].map((n): BlobInfo => ({ hash: String(n), bytes: n, putAt: n }))
      },
    },
  })
  const ids = async (limit: number) => (await collect(storage.list({ limit }))).map(({ id }) => id)
  expect(await ids(9)).toEqual(["a", "b", "c", "d", "e"])
  pages.mockClear()
  expect(await ids(2)).toEqual(["a", "b"])
  expect(pages).toHaveBeenCalledTimes(1)
  expect(await ids(0)).toEqual([])
  const blobs = storage.blobs.list()[Symbol.asyncIterator]()
  await blobs.next()
  await storage[Symbol.asyncDispose]()
  await expect(blobs.next()).rejects.toMatchObject({ code: "closed" })
})
