import { branchWithSummary } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, createWriter, note, storedIds, user, type Writer } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "../session/repository.ts"

const heads = ({ storage }: Writer): number => storage.calls.filter(({ operation }) => operation === "head").length

const kilobyte = (id: string): NewEntry => user("x".repeat(900), id)

test("a line longer than the storage's limit is rejected before a write", async () => {
  const location = createMemoryLocation()
  const writer = createWriter(location, { faulty: { capabilities: { maxLineBytes: 1_000 } } })
  const session = await writer.sessions.create({ id: "s" })
  const calls = writer.storage.calls.length
  expect(await codeOf(session.append(user("é".repeat(500), "a")))).toBe("too_large")
  expect(session.leafId).toBeNull()
  expect(writer.storage.calls.length).toBe(calls)
  await session.append(user("x".repeat(500), "b"))
  expect(await storedIds(location)).toEqual(["b"])
})

test("a batch larger than the storage's limit is rejected before a write", async () => {
  const location = createMemoryLocation()
  const writer = createWriter(location, { faulty: { capabilities: { maxBatchBytes: 4_000 } } })
  const session = await writer.sessions.create({ id: "s" })
  const batch = ["a", "b", "c", "d", "e"].map(kilobyte)
  expect(await codeOf(session.append(batch))).toBe("too_large")
  expect(writer.storage.calls).toHaveLength(1)
  await session.append(batch.slice(0, 3))
  expect(await storedIds(location)).toEqual(["a", "b", "c"])
})

test("appends that exceed a batch together are sent in several, and none is split", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { faulty: { capabilities: { maxBatchBytes: 4_000 } } })
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const made = Array.from({ length: 5 }, (_, n) => session.append([kilobyte(`a${n}`), kilobyte(`b${n}`)]))
  release()
  await Promise.all(made)
  const sizes = storage.calls.filter(({ operation }) => operation === "append").map(({ lines }) => lines.length)
  expect(sizes).toEqual([1, 2, 2, 2, 2, 2])
  for (const { lines } of storage.calls) expect(lines.join("\n").length).toBeLessThan(4_000)
})

test("an append that would exceed the session's limit is `too_large`, and nothing of it is written", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { maxSessionBytes: 5_000 })
  const session = await sessions.create({ id: "s" })
  const outcomes = []
  for (let n = 0; n < 8; n++)
    outcomes.push(
      await session.append(kilobyte(`m${n}`)).then(
        () => true,
        (error: { code: unknown }) => error.code,
      ),
    )
  expect(outcomes).toEqual([true, true, true, true, "too_large", "too_large", "too_large", "too_large"])
  const { bytes } = await session.parts()
  expect(bytes).toBeLessThanOrEqual(5_000)
  expect(bytes).toBeGreaterThan(4_000)
  expect(session.leafId).toBe("m3")
  await session.append(user("short", "short"))
  expect(await storedIds(location)).toEqual(["m0", "m1", "m2", "m3", "short"])
})

test("a nearly full session counts its bytes exactly, in any text encoding", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { maxSessionBytes: 10_000 })
  const session = await sessions.create({ id: "s" })
  for (let n = 0; ; n++) if ((await codeOf(session.append(user("é€😀".repeat(20))))) === "too_large") break
  const stored = await createMemoryStorage({ location }).head("s")
  expect(stored?.bytes).toBeLessThanOrEqual(10_000)
  expect(stored?.bytes).toBeGreaterThan(9_600)
})

test("a full session can still be compacted, branched and named, up to 1 MB more", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { maxSessionBytes: 3_000 })
  const session = await sessions.create({ id: "s" })
  await session.append(kilobyte("a"))
  await session.append(kilobyte("b"))
  expect(await codeOf(session.append(kilobyte("c")))).toBe("too_large")
  await session.title("full")
  await session.label("a", "l")
  await session.tombstone("b")
  await session.branch("a")
  await branchWithSummary(session, "a", "x".repeat(5_000))
  await session.edit("a", { content: "short" })
  await session.append({
    type: "compaction",
    summary: "x".repeat(5_000),
    firstKeptEntryId: "a",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  })
  for (const key of ["k", "l"]) await session.metadata(key, "x".repeat(450_000))
  expect(await codeOf(session.metadata("m", "x".repeat(200_000)))).toBe("too_large")
  expect(await codeOf(session.append(user("short")))).toBe("too_large")
  await session.title("still full")
})

test("appends behind one that does not fit fail with it, and those before it are written", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { maxSessionBytes: 4_000 })
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const outcomes = [
    session.append(kilobyte("a")).then(({ ids }) => ids),
    session.append(kilobyte("b")).then(({ ids }) => ids),
    codeOf(session.append(user("y".repeat(3_000), "c"))),
    codeOf(session.append(note("behind", "d"))),
  ]
  release()
  expect(await Promise.all(outcomes)).toEqual([["a"], ["b"], "too_large", "too_large"])
  expect(session.leafId).toBe("b")
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("the storage is rarely asked for the size of a session far from its limit, and not once per append to a full one", async () => {
  const location = createMemoryLocation()
  const writer = createWriter(location, { maxSessionBytes: 300_000 })
  const session = await writer.sessions.create({ id: "s" })
  for (let n = 0; n < 200; n++) await session.append(kilobyte(`m${n}`))
  expect(heads(writer)).toBeLessThan(10)
  for (let n = 0; ; n++) if ((await codeOf(session.append(kilobyte(`n${n}`)))) === "too_large") break
  const before = heads(writer)
  for (let n = 0; n < 50; n++) await session.title(`title ${n}`)
  expect(heads(writer) - before).toBeLessThan(3)
})

test("an unreadable head fails the append that would be too large, and later appends continue", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { maxSessionBytes: 3_000 })
  const session = await sessions.create({ id: "s" })
  await session.append([kilobyte("a"), kilobyte("b")])
  storage.fail("head", "corrupt")
  expect(await codeOf(session.append(kilobyte("c")))).toBe("corrupt")
  await session.append(note("small", "n"))
  expect(await storedIds(location)).toEqual(["a", "b", "n"])
})

test("a nearly full session that was deleted is `not_found`, not `too_large`", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { maxSessionBytes: 3_000 })
  const session = await sessions.create({ id: "s" })
  await session.append(kilobyte("a"))
  await createWriter(location).sessions.delete("s")
  expect(await codeOf(session.append(kilobyte("b")))).toBe("not_found")
})

test("a count of bytes that is too high is corrected by the head before an append is refused", async () => {
  const storage = createMemoryStorage()
  let tooMany = 0
  const head: typeof storage.head = async (id, o) => {
    const found = await storage.head(id, o)
    return found === undefined ? undefined : { ...found, bytes: found.bytes + tooMany }
  }
  await (await createSessions({ storage }).create({ id: "s" })).close()
  tooMany = 2_000
  const session = await createSessions({ storage: { ...storage, head }, maxSessionBytes: 3_000 }).open("s")
  tooMany = 0
  await session.append(kilobyte("a"), { onConflict: "fail" })
  expect((await storage.head("s"))?.next).toBe(2)
  expect(await codeOf(session.append([kilobyte("b"), kilobyte("c")]))).toBe("too_large")
})

test("another writer's lines count towards the limit", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { maxSessionBytes: 4_000 })
  const session = await sessions.create({ id: "s" })
  const other = await createWriter(location).sessions.open("s")
  await other.append([kilobyte("x"), kilobyte("y"), kilobyte("z")])
  await session.append(note("small", "n"))
  expect(await codeOf(session.append(kilobyte("a")))).toBe("too_large")
})

test("a partly written append is completed even if others have filled the session", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { maxSessionBytes: 4_000 })
  const session = await sessions.create({ id: "s" })
  storage.fail("append", "prefix")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append([kilobyte("a"), kilobyte("b")]))).toBe("indeterminate")
  await (await createWriter(location).sessions.open("s")).append([kilobyte("x"), kilobyte("y")])
  await session.flush()
  expect(await storedIds(location)).toEqual(["a", "x", "y", "b"])
})

test("a session that already exceeds its limit still opens, and accepts the same entries as a full one", async () => {
  const location = createMemoryLocation()
  const large = await createWriter(location).sessions.create({ id: "s" })
  await large.append([kilobyte("a"), kilobyte("b"), kilobyte("c")])
  const session = await createWriter(location, { maxSessionBytes: 1_000 }).sessions.open("s")
  expect(await codeOf(session.append(user("more")))).toBe("too_large")
  await session.title("large")
  expect((await session.info()).title).toBe("large")
})
