import { createMemoryLocation } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import type { Fault } from "@sessions/conformance/faults"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  user,
} from "../../test/writers.ts"

async function open(): Promise<
  ReturnType<typeof createWriter> & {
    readonly location: ReturnType<typeof createMemoryLocation>
    readonly session: Awaited<ReturnType<ReturnType<typeof createWriter>["sessions"]["create"]>>
  }
> {
  const location = createMemoryLocation()
  const writer = createWriter(location)
  const session = await writer.sessions.create({ id: "s" })
  return { location, session, ...writer }
}

/** More failures than a call makes attempts. */
const silence: readonly Fault[] = Array.from({ length: 12 }, () => "unavailable")

test("a retry after a lost response writes nothing twice, and reports no conflict with its own lines", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "response lost")
  const first = session.append([user("a", "a"), assistant("b", "b")])
  const second = session.append(user("c", "c"))
  expect(await first).toMatchObject({ ids: ["a", "b"], head: { next: 3 } })
  expect(await second).toMatchObject({ ids: ["c"] })
  expect(await storedIds(location)).toEqual(["a", "b", "c"])
})

test("a lost request is sent again with the same bytes", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "request lost", "request lost")
  await session.append(user("a", "a"))
  const sent = storage.calls.filter(({ operation }) => operation === "append").map(({ lines }) => lines.join("\n"))
  expect(sent).toHaveLength(4)
  expect(new Set(sent.slice(1)).size).toBe(1)
  expect(await storedIds(location)).toEqual(["a"])
})

test("a lost request is sent again with the same bytes, even if more is known by then", async () => {
  const { location, session } = await open()
  await session.append(user("first", "0"))
  for (let n = 0; n < 10; n++) await session.append(user("x".repeat(30_000)))
  const other = createWriter(location, { blobs: { textUnits: 100 } })
  const late = await other.sessions.open("s")
  other.storage.fail("append", "request lost")
  other.storage.fail("head", "unavailable", "unavailable", "unavailable")
  const edit = { type: "context_edit", targetId: "0", replacement: { content: "long ".repeat(100) } } as const
  expect(await codeOf(late.append(edit))).toBe("indeterminate")
  expect(await late.entry("0")).toBeDefined()
  await late.flush()
  const sent = other.storage.calls
    .filter(({ operation }) => operation === "append")
    .map(({ lines }) => lines.join("\n"))
  expect(sent).toHaveLength(2)
  expect(sent[1]).toBe(sent[0])
})

test("if only the start of a batch was committed, the rest is written behind it", async () => {
  const { location, session, storage } = await open()
  await session.append(user("0", "0"))
  storage.fail("append", "prefix")
  await session.append([user("a", "a"), assistant("b", "b"), user("c", "c")])
  const stored = await storedEntries(location)
  expect(stored.map(({ id, parentId }) => [id, parentId])).toEqual([
    ["0", null],
    ["a", "0"],
    ["b", "a"],
    ["c", "b"],
  ])
  expect(stored.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
})

test("while an outcome is unknown nothing else is sent", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late")
  storage.fail("head", ...silence)
  const unknown = codeOf(session.append(user("a", "a")))
  const behind = codeOf(session.append(user("b", "b")))
  expect(await unknown).toBe("indeterminate")
  expect(await behind).not.toBe("indeterminate")
  expect(storage.calls.filter(({ operation }) => operation === "append")).toHaveLength(2)
  expect(session.leafId).toBe("a")
  expect(await storedIds(location)).toEqual([])
})

test("the next append first resolves an unknown outcome: it was committed", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "response lost")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("indeterminate")
  await session.append(user("b", "b"))
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["a", null],
    ["b", "a"],
  ])
})

test("the next append first resolves an unknown outcome: it was not committed, and is written", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "request lost")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("indeterminate")
  await session.append(user("b", "b"))
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("flush resolves an unknown outcome, and rejects if it cannot", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "request lost")
  storage.fail("head", "unavailable", "unavailable", "unavailable", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("indeterminate")
  expect(await codeOf(session.flush())).toBe("indeterminate")
  await session.flush()
  expect(await storedIds(location)).toEqual(["a"])
})

test("repeating an append with an unknown outcome gives its outcome", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "response lost")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("indeterminate")
  expect(await session.append(user("a", "a"))).toMatchObject({ ids: ["a"], head: { next: 2 } })
  expect(await storedIds(location)).toEqual(["a"])
})

test("a delayed write does not duplicate later lines", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late")
  await session.append(user("a", "a"))
  await session.append(user("b", "b"))
  expect(await storage.deliver()).toBe(false)
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("a delayed write that arrives during its retry counts once", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("indeterminate")
  const release = storage.hold("append")
  const behind = session.append(user("b", "b"))
  await expect.poll(() => storage.calls.filter(({ operation }) => operation === "append").length).toBe(2)
  expect(await storage.deliver()).toBe(true)
  release()
  await behind
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("while a write may still arrive, a rejected retry does not make its outcome certain", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late", "quota")
  const rolledBack: string[] = []
  session.on("rolled_back", ({ ids }) => rolledBack.push(...ids))
  const outcomes = [codeOf(session.append(user("a", "a"))), codeOf(session.append(user("b", "b")))]
  expect(await outcomes[0]).toBe("indeterminate")
  expect(await outcomes[1]).not.toBe("indeterminate")
  expect(rolledBack).toEqual(["b"])
  expect(session.leafId).toBe("a")
  expect(await storage.deliver()).toBe(true)
  await session.append(user("c", "c"))
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["a", null],
    ["c", "a"],
  ])
})

test("another writer's line proves that a delayed write cannot arrive", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a"), { onConflict: "fail" }))).toBe("indeterminate")
  await (await reopened(location)).append(user("x", "x"))
  expect(await codeOf(session.append(user("b", "b")))).toBe("conflict")
  expect(await storage.deliver()).toBe(false)
  expect(await storedIds(location)).toEqual(["x"])
  expect(session.leafId).toBe("x")
})

test("a definitely rejected append fails as such, even if the log cannot be read", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "conflict")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("a", "a")))).toBe("unavailable")
  expect(session.leafId).toBeNull()
  await session.append(user("b", "b"))
  expect(await storedIds(location)).toEqual(["b"])
})

test("a storage that keeps rejecting an unchanged log is a conflict, and later appends succeed", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "conflict", "conflict", "conflict")
  expect(await codeOf(session.append(user("a", "a")))).toBe("conflict")
  expect(session.leafId).toBeNull()
  await session.append(user("b", "b"))
  expect(await storedIds(location)).toEqual(["b"])
})

test("retries of a rejecting storage wait between the attempts, and not after the last", async () => {
  const { session, storage } = await open()
  storage.fail("append", "conflict", "conflict", "conflict")
  const attempts = () => storage.calls.filter(({ operation }) => operation === "append").length - 1
  vi.useFakeTimers()
  try {
    const code = codeOf(session.append(user("a", "a")))
    await vi.advanceTimersByTimeAsync(0)
    expect(attempts()).toBe(1)
    // The longest waits behind the first attempt and behind the second one, of which the shortest is as long.
    await vi.advanceTimersByTimeAsync(50)
    expect(attempts()).toBe(2)
    await vi.advanceTimersByTimeAsync(100)
    expect(await code).toBe("conflict")
    expect(attempts()).toBe(3)
  } finally {
    vi.useRealTimers()
  }
})

test("an error without a code leaves the outcome unknown", async () => {
  const { location, session, storage } = await open()
  const append = storage.append.bind(storage)
  storage.append = async (...args) => {
    storage.append = append
    await append(...args)
    throw new TypeError("fetch failed")
  }
  expect(await session.append(user("a", "a"))).toMatchObject({ ids: ["a"], head: { next: 2 } })
  expect(await storedIds(location)).toEqual(["a"])
})

test("withdrawing appends while an outcome is resolved leaves the others in place", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "late")
  const release = storage.hold("head")
  const controller = new AbortController()
  const first = session.append(user("a", "a"))
  const withdrawn = codeOf(session.append(user("b", "b"), { signal: controller.signal }))
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  expect(await withdrawn).toBe("aborted")
  const last = session.append(user("c", "c"))
  release()
  await Promise.all([first, last])
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["a", null],
    ["c", "a"],
  ])
})

test("an append from a listener of rolled_back does not hang if an outcome stays unknown", async () => {
  const { session, storage } = await open()
  storage.fail("append", "late")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  const made: Promise<unknown>[] = []
  const off = session.on("rolled_back", () => {
    off()
    made.push(session.append(note("from rolled_back")))
  })
  const outcomes = [codeOf(session.append(user("a", "a"))), codeOf(session.append(user("b", "b")))]
  await Promise.all(outcomes)
  expect(made).toHaveLength(1)
  await made[0]
})

test("a session that resolved an outcome agrees with a new reader", async () => {
  const { location, session, storage } = await open()
  storage.fail("append", "response lost", undefined, "prefix", "late", "request lost")
  for (const id of ["a", "b", "c"]) await session.append([user(id, id), assistant(`${id}2`, `${id}2`)])
  const texts = ["a", "a2", "b", "b2", "c", "c2"]
  expect(await contextTexts(session)).toEqual(texts)
  expect(await contextTexts(await reopened(location))).toEqual(texts)
})
