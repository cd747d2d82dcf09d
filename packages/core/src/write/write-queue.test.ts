import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  reopened,
  storedEntries,
  storedIds,
  user,
} from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "../session/repository.ts"
import type { Session } from "../session/types.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"

const batches = (storage: { calls: readonly { operation: string; lines: readonly string[] }[] }): number[] =>
  storage.calls.filter(({ operation }) => operation === "append").map(({ lines }) => lines.length)

test("40 appends without awaiting do not conflict with each other", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const results = await Promise.all(Array.from({ length: 40 }, (_, n) => session.append(user(`m${n}`))))
  const entries = await storedEntries(location)
  expect(results.map(({ ids }) => ids[0])).toEqual(entries.map((entry) => entry.id))
  expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  expect(entries.map((entry) => entry.parentId)).toEqual([null, ...entries.slice(0, -1).map((entry) => entry.id)])
  expect(storage.calls.every(({ operation }) => operation === "append")).toBe(true)
})

test("appends that arrive during a write are sent together in the next one", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const appends = Array.from({ length: 20 }, (_, n) => session.append([user(`a${n}`), assistant(`b${n}`)]))
  release()
  const results = await Promise.all(appends)
  expect(batches(storage)).toEqual([1, 2, 38])
  expect(results.map(({ head }) => head?.next)).toEqual(Array.from({ length: 20 }, (_, n) => 3 + 2 * n))
})

test("if acknowledgements wait for the disk, a group waits one tick for further appends", async () => {
  const { sessions, storage } = createWriter(undefined, { faulty: { capabilities: { durability: "disk" } } })
  const session = await sessions.create({ id: "s" })
  await Promise.all(Array.from({ length: 64 }, async (_, n) => session.append(user(`m${n}`))))
  expect(batches(storage)).toEqual([1, 64])
})

test("every promise resolves on its own acknowledgement", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const first = session.append(user("first"))
  await Promise.resolve()
  const release = storage.hold("append")
  const second = session.append(user("second"))
  expect((await first).head?.next).toBe(2)
  release()
  expect((await second).head?.next).toBe(3)
})

test("an entry has its id, parent and position when append returns its promise", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const appended = session.append([user("one", "a"), assistant("two", "b")])
  expect(session.leafId).toBe("b")
  expect(await session.entry("b")).toMatchObject({ id: "b", parentId: "a", seq: 2 })
  expect(await contextTexts(session)).toEqual(["one", "two"])
  expect(session.head?.next).toBe(1)
  release()
  expect(await appended).toMatchObject({ ids: ["a", "b"], head: { next: 3 } })
})

test("a list of entries is written by one append, or not at all", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  storage.fail("append", "quota")
  expect(await codeOf(session.append([user("a"), assistant("b"), user("c")]))).toBe("quota")
  expect(await storedIds(location)).toEqual([])
  await session.append([user("a"), assistant("b"), user("c")])
  expect(batches(storage)).toEqual([1, 3, 3])
})

test("a definitely failed append leaves memory together with everything queued behind it", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  await session.append(user("kept", "kept"))
  const events: (readonly string[])[] = []
  session.on("rolled_back", ({ ids }) => events.push(ids))
  storage.fail("append", "quota")
  const failed = ["a", "b", "c"].map((id) => codeOf(session.append(user(id, id))))
  expect(session.leafId).toBe("c")
  expect(await Promise.all(failed)).toEqual(["quota", "quota", "quota"])
  expect(events).toEqual([["a", "b", "c"]])
  expect(session.leafId).toBe("kept")
  expect(await session.entry("a")).toBeUndefined()
  expect(await storedIds(location)).toEqual(["kept"])
})

test("appends that fail together reject with the same error", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  storage.fail("append", "quota")
  const outcomes = await Promise.allSettled([session.append(user("a")), session.append(user("b"))])
  const [first, second] = outcomes.map((outcome) => (outcome.status === "rejected" ? (outcome.reason as Error) : null))
  expect(first).toBeInstanceOf(Error)
  expect(second).toBe(first)
})

for (const code of ["quota", "invalid", "corrupt", "unsupported"] as const) {
  test(`after ${code} the next append succeeds`, async () => {
    const location = createMemoryLocation()
    const { sessions, storage } = createWriter(location)
    const session = await sessions.create({ id: "s" })
    storage.fail("append", code, code)
    expect(await codeOf(session.append(user("a", "a")))).toBe(code)
    expect(await codeOf(session.append(user("b", "b")))).toBe(code)
    await session.append(user("c", "c"))
    expect(await storedIds(location)).toEqual(["c"])
    expect((await storedEntries(location))[0]?.parentId).toBeNull()
    expect(await contextTexts(session)).toEqual(["c"])
  })
}

// The storage must remove what a full disk left of a write; core must keep its memory and its next lines consistent with the log.
test("a failed append drops none of the later appends", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  storage.fail("append", undefined, "quota", "quota")
  const outcomes = []
  for (const id of ["m1", "m2", "m3", "m4"])
    outcomes.push(
      await session.append(user(id, id)).then(
        () => id,
        () => null,
      ),
    )
  expect(outcomes).toEqual(["m1", null, null, "m4"])
  expect(await storedIds(location)).toEqual(["m1", "m4"])
  expect(await contextTexts(await reopened(location))).toEqual(["m1", "m4"])
})

test("an unavailable storage is tried again, three times in all", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  storage.fail("append", "unavailable", "unavailable")
  await session.append(user("a", "a"))
  storage.fail("append", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(user("b", "b")))).toBe("unavailable")
  await session.append(user("c", "c"))
  expect(await storedIds(location)).toEqual(["a", "c"])
  expect(batches(storage)).toHaveLength(1 + 3 + 3 + 1)
})

test("an invalid entry of one caller fails no other caller", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, {
    faulty: { capabilities: { maxLineBytes: 2_000, maxBatchBytes: 3_000 } },
  })
  const session = await sessions.create({ id: "s" })
  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  const outcomes = await Promise.all([
    session.append(user("good", "g1")).then(({ ids }) => ids),
    codeOf(session.append(user("x".repeat(2_000)))),
    codeOf(session.append({ type: "message" } as never)),
    codeOf(session.append({ type: "custom", customType: "c", data: cyclic })),
    codeOf(session.append([user("y".repeat(1_200)), user("y".repeat(1_200)), user("y".repeat(1_200))])),
    codeOf(session.append([])),
    codeOf(session.append([user("twice", "d"), user("twice", "d")])),
    session.append(user("good", "g2")).then(({ ids }) => ids),
  ])
  expect(outcomes).toEqual([["g1"], "too_large", "invalid", "invalid", "too_large", "invalid", "invalid", ["g2"]])
  expect(await storedIds(location)).toEqual(["g1", "g2"])
  expect(session.leafId).toBe("g2")
})

test("changing the object after append changes neither memory nor log", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const block = { type: "text" as const, text: "as it was" }
  const entry = { type: "message" as const, id: "a", message: { role: "user" as const, content: [block] } }
  const value = { list: [1] }
  const list: NewEntry[] = [entry]
  const appended = session.append(list)
  const named = session.append({ type: "metadata", key: "k", value })
  block.text = "changed"
  entry.id = "changed"
  value.list.push(2)
  list.push(user("more"))
  release()
  await Promise.all([appended, named])
  expect(await contextTexts(session)).toEqual(["as it was"])
  expect((await session.info()).metadata).toEqual({ k: { list: [1] } })
  const stored = await storedEntries(location)
  expect(stored.map((one) => one.type)).toEqual(["message", "metadata"])
  expect(stored[0]).toMatchObject({ id: "a", message: { content: [{ text: "as it was" }] } })
  expect((await sessions.info("s")).metadata).toEqual({ k: { list: [1] } })
})

test("making the appended object circular stops nothing", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const value: Record<string, unknown> = {}
  const first = session.append(user("a", "a"))
  const named = session.append({ type: "metadata", key: "k", value, id: "b" })
  value["self"] = value
  release()
  await Promise.all([first, named])
  await session.append(user("c", "c"))
  expect(await storedIds(location)).toEqual(["a", "b", "c"])
})

test("an entry knows the position of the entry it refers to as soon as its line is written", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const appends = [
    session.append([user("a", "a"), user("b", "b")]),
    session.append({ type: "label", targetId: "b", label: "l" }),
  ]
  await Promise.all(appends)
  await session.branch("a")
  const stored = await storedEntries(location)
  expect(stored[2]).toMatchObject({ type: "label", targetId: "b", targetSeq: 2 })
  expect(stored[3]).toMatchObject({ type: "leaf", parentId: "a", targetSeq: 1 })
  expect(await session.entry(stored[2]?.id as string)).toEqual(stored[2])
})

test("appends that the way to the store refuses together for their size go out in smaller batches, in order", async () => {
  const { session, sent } = await behindLimit(2_000)
  const appends = Array.from({ length: 40 }, (_, n) => session.append(user(`m${n} ${"x".repeat(100)}`, `m${n}`)))
  const results = await Promise.all(appends)
  expect(results.map(({ head }) => head?.next)).toEqual(Array.from({ length: 40 }, (_, n) => n + 2))
  const refused = sent.filter((bytes) => bytes > 2_000).length
  expect(refused).toBeLessThan(6)
  // What was learned holds for later batches.
  await Promise.all(Array.from({ length: 40 }, (_, n) => session.append(user(`later ${n} ${"x".repeat(100)}`))))
  expect(sent.filter((bytes) => bytes > 2_000)).toHaveLength(refused)
})

test("an append that alone is refused for its size fails as such, and later ones succeed", async () => {
  const { session } = await behindLimit(2_000)
  expect(await codeOf(session.append([user("x".repeat(1_000)), assistant("y".repeat(1_000))]))).toBe("too_large")
  await session.append(user("small"))
  expect(await contextTexts(session)).toEqual(["small"])
})

test("a batch of which an earlier try may still arrive is sent in parts too, and each entry is there once", async () => {
  const { session, storage, location } = await behindLimit(2_000)
  const { append } = storage
  // The whole batch is on its way; nothing answers, and the next try is refused for its size.
  let late: (() => Promise<unknown>) | undefined
  storage.append = async (id, lines, o) => {
    if (lines.length < 40 || late !== undefined) return append(id, lines, o)
    late = () => createMemoryStorage({ location }).append(id, lines, o)
    throw new StorageError("indeterminate", "no answer")
  }
  const appends = Array.from({ length: 41 }, (_, n) => session.append(user(`m${n} ${"x".repeat(100)}`, `m${n}`)))
  await Promise.all(appends)
  expect(await codeOf(late?.() ?? Promise.resolve())).toBe("conflict")
  expect(await storedIds(location)).toEqual(Array.from({ length: 41 }, (_, n) => `m${n}`))
})

/** A session behind a server that refuses larger bodies. `sent`: bytes of each append. */
async function behindLimit(most: number): Promise<{
  readonly location: ReturnType<typeof createMemoryLocation>
  readonly storage: { -readonly [Name in keyof SessionStorage]: SessionStorage[Name] }
  readonly session: Session
  readonly sent: number[]
}> {
  const location = createMemoryLocation()
  const behind = createMemoryStorage({ location })
  const sent: number[] = []
  const storage = {
    ...behind,
    async append(...[id, lines, o]: Parameters<SessionStorage["append"]>) {
      const bytes = lines.join("\n").length
      sent.push(bytes)
      if (bytes > most) throw new StorageError("too_large", `The way takes ${most} bytes.`)
      return behind.append(id, lines, o)
    },
  }
  return { location, storage, session: await createSessions({ storage }).create({ id: "s" }), sent }
}
