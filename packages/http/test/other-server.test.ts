/** Whatever answers a storage client in place of the handler or after it: nothing acknowledged is missing, nothing refused is there. */
import { type SessionStorage, toUtf8 } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { connectHttpStorage, createHttpStorage } from "../src/client.ts"
import { behindOther, type Fetch, OTHER_ANSWERS } from "./other-server.ts"
import { runSchedule } from "./schedules.ts"
import { codeOf, handlerOf, linesOf, URL_OF_STORAGE } from "./wire.ts"

const BLOB = toUtf8("a blob")

interface Filled {
  /** Without the network. */
  readonly direct: SessionStorage
  readonly fetch: Fetch
  readonly head: { readonly next: number; readonly log: string }
  readonly version: string
  readonly hash: string
}

async function filled(): Promise<Filled> {
  const direct = createMemoryStorage({ location: createMemoryLocation() })
  const handler = handlerOf(direct)
  const { next, log } = await direct.append("a", ["1", "2"], { expect: 0 })
  const version = await direct.docs.put("d", "text", { expect: null })
  const hash = await direct.blobs.put(BLOB)
  return { direct, fetch: (url, init) => handler(new Request(url, init)), head: { next, log }, version, hash }
}

interface Write {
  readonly act: (storage: SessionStorage, on: Filled) => Promise<unknown>
  readonly isDone: (on: Filled) => Promise<boolean>
}

const WRITES: Readonly<Record<string, Write>> = {
  "append to a new log": {
    act: (storage) => storage.append("new", ["x"], { expect: 0 }),
    isDone: async ({ direct }) => (await linesOf(direct, "new")).join() === "x",
  },
  "append to a log": {
    act: (storage, { head }) => storage.append("a", ["3", "4"], { expect: head }),
    isDone: async ({ direct }) => (await linesOf(direct)).join() === "1,2,3,4",
  },
  delete: {
    act: (storage) => storage.delete("a"),
    isDone: async ({ direct }) => (await direct.head("a")) === undefined,
  },
  "docs.put": {
    act: (storage, { version }) => storage.docs.put("d", "other", { expect: version }),
    isDone: async ({ direct }) => (await direct.docs.get("d"))?.text === "other",
  },
  "docs.delete": {
    act: (storage, { version }) => storage.docs.delete("d", { expect: version }),
    isDone: async ({ direct }) => (await direct.docs.get("d")) === undefined,
  },
  "blobs.put": {
    act: (storage) => storage.blobs.put(toUtf8("new")),
    isDone: async ({ direct }) => (await all(direct.blobs.list())).length === 2,
  },
  "blobs.delete": {
    act: (storage, { hash }) => storage.blobs.delete(hash),
    isDone: async ({ direct }) => (await all(direct.blobs.list())).length === 0,
  },
}

const READS: Readonly<Record<string, (storage: SessionStorage, on: Filled) => Promise<unknown>>> = {
  async connect(_, { fetch }) {
    const { capabilities } = await connectHttpStorage({ url: URL_OF_STORAGE, fetch, timeout: 40 })
    return capabilities
  },
  head: (storage) => storage.head("a"),
  "head of no log": (storage) => storage.head("none"),
  read: (storage) => linesOf(storage),
  "read of no log": (storage) => linesOf(storage, "none"),
  list: (storage) => all(storage.list()),
  "docs.get": (storage) => storage.docs.get("d"),
  "docs.get of none": (storage) => storage.docs.get("none"),
  "docs.list": (storage) => all(storage.docs.list()),
  "blobs.get": (storage, { hash }) => storage.blobs.get(hash),
  "blobs.get of none": (storage) => storage.blobs.get("0".repeat(64)),
  "blobs.has": (storage, { hash }) => storage.blobs.has(hash),
  "blobs.list": (storage) => all(storage.blobs.list()),
}

/** A client that waits for 40 ms. */
function clientOf({ direct }: Filled, fetch: Fetch): SessionStorage {
  const capabilities = { ...direct.capabilities, writers: "any", replace: false } as const
  return createHttpStorage({ url: URL_OF_STORAGE, capabilities, timeout: 40, fetch })
}

test.each(Object.entries(WRITES))(
  "%s: acknowledged only if it is done, and refused only if it is not",
  async (_, o) => {
    const outcomes = await Promise.all(
      Object.keys(OTHER_ANSWERS).map(async (name) => {
        const on = await filled()
        const storage = clientOf(
          on,
          behindOther(on.fetch, (method) => (method === "GET" ? undefined : name)),
        )
        const code = await codeOf(o.act(storage, on))
        const isDone = await o.isDone(on)
        const isRight = code === "done" ? isDone : code === "indeterminate" || !isDone
        return isRight ? undefined : `${name}: ${String(code)}, ${isDone ? "done" : "not done"}`
      }),
    )
    expect(outcomes.filter((wrong) => wrong !== undefined)).toEqual([])
  },
)

test.each(Object.entries(READS))("%s: what is there, or `unavailable`", async (call, act) => {
  const right = await filled().then((on) => act(clientOf(on, on.fetch), on))
  const known = new Set(["unavailable", "quota"])
  for (const name of Object.keys(OTHER_ANSWERS)) {
    const on = await filled()
    // Each client first compares the capabilities.
    const isMet = (url: string): boolean => call === "connect" || !url.endsWith("/capabilities")
    const fetch = behindOther(on.fetch, (_, url) => (isMet(url) ? name : undefined))
    const read = await act(clientOf(on, fetch), { ...on, fetch }).then(
      (value) => ({ value }),
      (error: unknown) => ({ code: (error as { readonly code: string }).code }),
    )
    if ("code" in read) expect([name, known.has(read.code), read.code]).toEqual([name, true, read.code])
    else expect([name, likeness(read.value)]).toEqual([name, likeness(right)])
  }
})

test("random requests meet random answers: nothing acknowledged is missing, nothing refused is there, and each call ends", async () => {
  for (let seed = 0; seed < 30; seed++) expect(await runSchedule(seed)).toEqual([])
})

/** Without what differs between two logs: the time and the identity. */
function likeness(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, one: unknown) => (key === "log" || key.endsWith("At") ? "" : one)),
  )
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}
