/** Sessions that are created with metadata and entries: in one batch with the header, whatever fails. */
import { createFaultyStorage } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { twoRepositories } from "../../test/repositories.ts"
import { assistant, codeOf, storedLines, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"

const FIRST = { metadata: { thread: "t", n: { x: 1 } }, entries: [user("hello", "m1"), assistant("hi", "m2")] }

test("header, metadata and entries are one batch, and the session continues behind them", async () => {
  const batches: (readonly string[])[] = []
  const { storage } = twoRepositories()
  const sessions = createSessions({ storage: recording(storage, batches) })
  const session = await sessions.create({ id: "s", kind: "langgraph", ...FIRST })
  expect(batches.map((lines) => lines.map(typeOf))).toEqual([["session", "metadata", "metadata", "message", "message"]])
  expect(session.leafId).toBe("m2")
  expect(session.head?.next).toBe(5)
  expect(await session.info()).toMatchObject({ kind: "langgraph", messageCount: 2, metadata: FIRST.metadata })
  await session.append(user("and now"))
  const entries = (await storedLines(storage))
    .slice(1)
    .map((line) => JSON.parse(line) as { id: string; parentId: unknown })
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)])
})

test("a crash leaves the session with all of its first entries, or no session", async () => {
  for (const fault of ["request lost", "response lost", "late", "prefix", "unavailable"] as const) {
    const storage = createMemoryStorage()
    let crashed = false
    const faulty = createFaultyStorage(storage, {
      capabilities: { atomicBatch: "prefix" },
      decide: ({ operation }) => (crashed ? "unavailable" : operation === "append" ? crash() : undefined),
    })
    const crash = () => {
      crashed = true
      return fault
    }
    const create = createSessions({ storage: faulty }).create({ id: "s", ...FIRST })
    expect(await codeOf(create)).toBe(fault === "unavailable" ? "unavailable" : "indeterminate")
    await faulty.deliver()
    const arrived = fault === "response lost" || fault === "late"
    expect(await storedLines(storage)).toHaveLength(arrived ? 5 : 0)
    // The next process starts over, or finds all of it.
    const session = await createSessions({ storage }).openOrCreate("s", FIRST)
    expect((await session.info()).metadata).toEqual(FIRST.metadata)
    expect(await storedLines(storage)).toHaveLength(5)
  }
})

test("a creation that is refused leaves no session, and the id stays free", async () => {
  const refusing = createMemoryStorage({ limits: { maxBatchBytes: 2_000 } })
  const small = createSessions({ storage: refusing })
  expect(await codeOf(small.create({ id: "s", entries: [user("x".repeat(2_000))] }))).toBe("too_large")
  expect(await refusing.head("s")).toBeUndefined()
  await small.create({ id: "s", ...FIRST })

  const storage = createMemoryStorage()
  const hooked = createSessions({
    storage,
    hooks: {
      append: (entry) => {
        if (entry.type === "message") throw new Error("No messages.")
      },
    },
  })
  await expect(hooked.create({ id: "s", ...FIRST })).rejects.toThrow("No messages.")
  expect(await storage.head("s")).toBeUndefined()
  await hooked.create({ id: "s", metadata: FIRST.metadata })
})

test("large values of the first entries move to the blob store", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage, blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s", entries: [user("x".repeat(1_000), "m")] })
  const [, line = ""] = await storedLines(storage)
  expect(line).toContain("blob:sha256:")
  expect(await session.entry("m")).toMatchObject({ message: { content: [{ text: "x".repeat(1_000) }] } })
})

test("of two creations at one instant one succeeds, and its entries alone are in the log", async () => {
  // Without an answer the second one looks whether the stored log is its own.
  for (const fault of [undefined, "request lost"] as const) {
    const location = createMemoryLocation()
    const create = (text: string, storage: SessionStorage) =>
      createSessions({ storage, now: () => 0 }).create({ id: "s", entries: [user(text)] })
    const second = createFaultyStorage(createMemoryStorage({ location }))
    second.fail("append", fault)
    const made = await Promise.allSettled([create("one", createMemoryStorage({ location })), create("two", second)])
    expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected"])
    expect(made[1]).toMatchObject({ reason: { code: "exists" } })
    const lines = await storedLines(createMemoryStorage({ location }))
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain("one")
  }
})

test("openOrCreate gives a session that is there nothing of the entries", async () => {
  const { sessions, elsewhere, storage } = twoRepositories()
  await (await sessions.openOrCreate("s", FIRST)).close()
  const again = await elsewhere.openOrCreate("s", { metadata: { thread: "other" }, entries: [user("other")] })
  expect((await again.info()).metadata).toEqual(FIRST.metadata)
  expect(await storedLines(storage)).toHaveLength(5)
})

test("the append hooks see the first entries, and `save` and `create` follow their acknowledgement", async () => {
  const seen: string[] = []
  const sessions = createSessions({
    storage: createMemoryStorage(),
    hooks: {
      append: (entry) => void seen.push(`append ${entry.type}`),
      save: ({ ids }) => seen.push(`save ${ids.length}`),
      create: ({ session }) => seen.push(`create ${session}`),
    },
  })
  await sessions.create({ id: "s", metadata: { thread: "t" }, entries: [user("hello")] })
  expect(seen).toEqual(["append metadata", "append message", "save 2", "create s"])
})

test("an outcome that cannot be found out is `indeterminate`, and the session may be there whole", async () => {
  const inner = createMemoryStorage()
  const lost = async (): Promise<never> => {
    throw new StorageError("indeterminate", "The answer was lost.")
  }
  let arrived = false
  const storage: SessionStorage = {
    ...inner,
    async append(...call) {
      if (!arrived) await inner.append(...call)
      arrived = true
      return lost()
    },
    head: lost,
  }
  expect(await codeOf(createSessions({ storage }).create({ id: "s", ...FIRST }))).toBe("indeterminate")
  expect(await storedLines(inner)).toHaveLength(5)
})

function recording(inner: SessionStorage, batches: (readonly string[])[]): SessionStorage {
  return {
    ...inner,
    append(session, lines, o) {
      batches.push(lines)
      return inner.append(session, lines, o)
    },
  }
}

function typeOf(line: string): unknown {
  return (JSON.parse(line) as { type: unknown }).type
}
