import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  storedLines,
  user,
  type Writer,
} from "../../test/writers.ts"
import type { Session } from "../session/types.ts"
import type { PersistAfter } from "./types.ts"

interface Opened extends Writer {
  readonly location: ReturnType<typeof createMemoryLocation>
  readonly session: Session
}

async function open(persistAfter: PersistAfter, more: Parameters<typeof createWriter>[1] = {}): Promise<Opened> {
  const location = createMemoryLocation()
  const writer = createWriter(location, { persistAfter, ...more })
  return { location, session: await writer.sessions.create({ id: "s", title: "t" }), ...writer }
}

const appends = ({ storage }: Writer): number[] =>
  storage.calls.filter(({ operation }) => operation === "append").map(({ lines }) => lines.length)

for (const [persistAfter, first] of [
  ["user", user("first", "m")],
  ["user", assistant("first", "m")],
  ["assistant", assistant("first", "m")],
] as const) {
  const role = (first as { message: { role: string } }).message.role
  test(`with persistAfter "${persistAfter}" entries wait in memory for the first message, and the ${role}'s is written with them in one batch`, async () => {
    const opened = await open(persistAfter)
    const { session, location } = opened
    const waiting = [
      { type: "session_init", systemPrompt: "be kind", tools: [], id: "i" } as const,
      { type: "model_change", provider: "p", model: "m", id: "c" } as const,
    ]
    expect(await session.append(waiting)).toEqual({ ids: ["i", "c"], head: undefined, durable: false })
    expect(session.head).toBeUndefined()
    expect(session.leafId).toBe("c")
    expect((await session.context()).model).toEqual({ provider: "p", model: "m" })
    await session.flush()
    expect(await createMemoryStorage({ location }).head("s")).toBeUndefined()
    expect(await session.append(first)).toMatchObject({ ids: ["m"], durable: true, head: { next: 4 } })
    expect(appends(opened)).toEqual([4])
    expect((await storedEntries(location)).map(({ id, parentId, seq }) => [id, parentId, seq])).toEqual([
      ["i", null, 1],
      ["c", "i", 2],
      ["m", "c", 3],
    ])
    expect((await reopened(location)).header).toMatchObject({ id: "s", title: "t" })
  })
}

test('with persistAfter "assistant" the user\'s message waits too', async () => {
  const { session, location } = await open("assistant")
  expect(await session.append(user("hello", "u"))).toMatchObject({ durable: false })
  await session.append(assistant("hello", "a"))
  expect(await storedIds(location)).toEqual(["u", "a"])
})

test("after the first message every append is written", async () => {
  const { session, location } = await open("user")
  await session.append(user("hello", "u"))
  expect(await session.append(note("n", "n"))).toMatchObject({ durable: true, head: { next: 3 } })
  expect(await storedIds(location)).toEqual(["u", "n"])
})

test("appends made during the write of the first message are sent behind it", async () => {
  const { session, location, storage } = await open("user")
  await session.append(note("n", "n"))
  const release = storage.hold("append")
  const made = [session.append(user("hello", "u")), session.append(note("later", "l"))]
  release()
  expect(await Promise.all(made)).toMatchObject([{ durable: true }, { durable: true }])
  expect(await storedIds(location)).toEqual(["n", "u", "l"])
})

test("close before the first message leaves nothing in the storage, not even a blob", async () => {
  const { session, location } = await open("assistant", { blobs: { textUnits: 100 } })
  await session.append([note("n"), user("long ".repeat(100))])
  await session.close()
  expect([location.logs.size, location.docs.size, location.blobs.size]).toEqual([0, 0, 0])
})

test("a failed creation keeps the deferred entries, and the next message writes them", async () => {
  const { session, location, storage } = await open("user")
  await session.append(note("n1", "n1"))
  await session.append(note("n2", "n2"))
  storage.fail("append", "quota")
  const rolledBack: string[] = []
  session.on("rolled_back", ({ ids }) => rolledBack.push(...ids))
  const failed = [codeOf(session.append(user("hello", "u1"))), codeOf(session.append(note("behind", "b")))]
  expect(await Promise.all(failed)).toEqual(["quota", "quota"])
  expect(rolledBack).toEqual(["u1", "b"])
  expect(session.leafId).toBe("n2")
  expect(await session.append(note("n3", "n3"))).toMatchObject({ durable: false })
  await session.append(user("hello", "u2"))
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["n1", null],
    ["n2", "n1"],
    ["n3", "n2"],
    ["u2", "n3"],
  ])
  expect(await contextTexts(session)).toEqual(["hello"])
})

test("a failed put of a blob is not permanent: the next message puts it again", async () => {
  const { session, location, storage } = await open("user", { blobs: { textUnits: 100 } })
  await session.append({ type: "custom", customType: "c", data: "long ".repeat(100), id: "n" })
  storage.fail("put", "quota")
  expect(await codeOf(session.append(user("hello", "u1")))).toBe("quota")
  await session.append(user("hello", "u2"))
  expect(await storedIds(location)).toEqual(["n", "u2"])
  expect((await storedLines(createMemoryStorage({ location })))[1]).toContain("blob:sha256:")
})

test("a creation whose response was lost is one session with all deferred entries", async () => {
  const { session, location, storage } = await open("user")
  await session.append(note("n", "n"))
  storage.fail("append", "response lost")
  await session.append(user("hello", "u"))
  expect(await storedIds(location)).toEqual(["n", "u"])
})

test("a creation with an unknown outcome keeps its entries, and the next append resolves it", async () => {
  const { session, location, storage } = await open("user")
  await session.append(note("n", "n"))
  storage.fail("append", "late")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  const outcomes = [codeOf(session.append(user("hello", "u"))), codeOf(session.append(note("behind", "b")))]
  expect(await Promise.all(outcomes)).toEqual(["indeterminate", "unavailable"])
  expect(session.leafId).toBe("u")
  expect(await storage.deliver()).toBe(true)
  expect(await session.append(note("later", "l"))).toMatchObject({ durable: true, head: { next: 4 } })
  expect(await storedIds(location)).toEqual(["n", "u", "l"])
})

test("an append withdrawn during the creation leaves the creation to complete", async () => {
  const { session, location, storage } = await open("user")
  await session.append(note("n", "n"))
  const release = storage.hold("append")
  const created = session.append(user("hello", "u"))
  const controller = new AbortController()
  const withdrawn = codeOf(session.append(note("later", "l"), { signal: controller.signal }))
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  expect(await withdrawn).toBe("aborted")
  release()
  expect(await created).toMatchObject({ durable: true })
  await session.append(note("more", "m"))
  expect(await storedIds(location)).toEqual(["n", "u", "m"])
})

test("a first message withdrawn during the write of the deferred entries leaves that write to complete", async () => {
  const opened = await open("user", { faulty: { capabilities: { maxBatchBytes: 3_000 } } })
  const { session, location, storage } = opened
  await session.append({ type: "custom", customType: "c", data: "x".repeat(1_500), id: "n" })
  const release = storage.hold("append")
  const controller = new AbortController()
  const withdrawn = codeOf(session.append(user("y".repeat(1_500), "u1"), { signal: controller.signal }))
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  expect(await withdrawn).toBe("aborted")
  release()
  await expect.poll(() => session.head).toBeDefined()
  await session.append(user("hello", "u2"))
  expect(await storedIds(location)).toEqual(["n", "u2"])
})

test("an id that another writer takes meanwhile is `exists`, and its session is left alone", async () => {
  const { session, location } = await open("user")
  await session.append(note("n", "n"))
  const other = await createWriter(location).sessions.create({ id: "s" })
  await other.append(user("theirs", "x"))
  expect(await codeOf(session.append(user("mine", "u")))).toBe("exists")
  expect(await storedIds(location)).toEqual(["x"])
  expect(session.leafId).toBeNull()
})

test("an append is rejected before the deferred entries exceed one batch or one session", async () => {
  for (const limit of [{ faulty: { capabilities: { maxBatchBytes: 4_000 } } }, { maxSessionBytes: 4_000 }]) {
    const { session, location } = await open("user", limit)
    const outcomes = []
    for (let n = 0; n < 4; n++) {
      const outcome = session.append({ type: "custom", customType: "c", data: "x".repeat(1_000), id: `n${n}` })
      outcomes.push(
        await outcome.then(
          ({ durable }) => durable,
          (error: { code: unknown }) => error.code,
        ),
      )
    }
    expect(outcomes).toEqual([false, false, false, "too_large"])
    await session.append(user("hello", "u"))
    expect(await storedIds(location)).toEqual(["n0", "n1", "n2", "u"])
  }
})

test("a first message that does not fit leaves the deferred entries deferred", async () => {
  const { session, location } = await open("user", { maxSessionBytes: 3_000 })
  await session.append({ type: "custom", customType: "c", data: "x".repeat(1_000), id: "n" })
  expect(await codeOf(session.append(user("y".repeat(3_000), "u1")))).toBe("too_large")
  expect(await createMemoryStorage({ location }).head("s")).toBeUndefined()
  expect(session.leafId).toBe("n")
  await session.append(user("short", "u2"))
  expect(await storedIds(location)).toEqual(["n", "u2"])
})

test("a first message too large for the batch of the deferred entries is sent behind it", async () => {
  const opened = await open("user", { faulty: { capabilities: { maxBatchBytes: 3_000 } } })
  const { session, location } = opened
  await session.append({ type: "custom", customType: "c", data: "x".repeat(1_500), id: "n" })
  await session.append(user("y".repeat(1_500), "u"))
  expect(appends(opened)).toEqual([2, 1])
  expect(await storedIds(location)).toEqual(["n", "u"])
})

test("a repeated append of deferred entries gets the same acknowledgement", async () => {
  const { session, location } = await open("user")
  await session.append(note("n", "n"))
  expect(await session.append(note("n", "n"))).toEqual({ ids: ["n"], head: undefined, durable: false })
  await session.append(user("hello", "u"))
  expect(await storedIds(location)).toEqual(["n", "u"])
})

test("if the creation fails, a flush and a repeated append do not wait for the next one", async () => {
  const { session, storage, location } = await open("assistant")
  await session.append(note("n", "n"))
  storage.fail("append", "quota")
  const first = codeOf(session.append(assistant("a", "a")))
  const flushed = session.flush()
  const repeated = session.append(note("n", "n"))
  expect(await first).toBe("quota")
  await flushed
  expect(await repeated).toEqual({ ids: ["n"], head: undefined, durable: false })
  await session.append(assistant("b", "b"))
  expect(await storedIds(location)).toEqual(["n", "b"])
})

test("an append that waits costs the same, however many wait before it", async () => {
  const { session } = await open("user")
  const start = cpuTime()
  for (let n = 0; n < 16_000; n++) await session.append(note("n"))
  // Quadratic work would take half a minute here; this is not a benchmark.
  expect(cpuTime() - start).toBeLessThan(10_000)
})
