import { branchWithSummary } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { assistant, codeOf, contextTexts, createWriter, note, storedEntries, user } from "../../test/writers.ts"
import type { Entry } from "../format/entry.ts"
import { createSessions } from "./repository.ts"
import { sessionTree } from "../transfer/index.ts"
import type { Session } from "./types.ts"

test("branches, labels, edits and deletes are ordered before later appends, awaited or not", async () => {
  const { session, location } = await start()
  const [first] = (await session.append([user("a"), assistant("b")])).ids as [string, string]
  const all = [
    session.branch(first),
    session.append(user("c")),
    session.label(first, "here"),
    session.append(user("d")),
    session.tombstone(first),
    session.edit(first, null),
    branchWithSummary(session, first, "left"),
    session.append(user("e")),
  ]
  await Promise.all(all)
  const entries = await storedEntries(location)
  expect(entries.slice(2).map(({ type }) => type)).toEqual([
    "leaf",
    "message",
    "label",
    "message",
    "tombstone",
    "context_edit",
    "branch_summary",
    "message",
  ])
  expect(entries[2]?.parentId).toBe(first)
  expect(entries[3]?.parentId).toBe(entries[2]?.id)
  expect(entries[8]).toMatchObject({ parentId: first, fromId: entries[7]?.id })
  expect(entries[9]?.parentId).toBe(entries[8]?.id)
})

test("an entry that is not in memory is looked up in the log; an unknown one is `not_found`", async () => {
  const { session, elsewhere } = await start()
  const { ids } = await session.append([
    user("first"),
    ...Array.from({ length: 300 }, (_, n) => user(`${n} ${"-".repeat(1_000)}`)),
  ])
  const opened = await elsewhere.open("s")
  await opened.label(ids[0] as string, "the start")
  expect(await opened.entry(ids[0] as string)).toMatchObject({ message: { content: [{ text: "first" }] } })
  await opened.branch(ids[0] as string)
  expect(await contextTexts(opened)).toEqual(["first"])
  for (const call of [
    () => opened.branch("nobody"),
    () => branchWithSummary(opened, "nobody", "s"),
    () => opened.label("nobody", "x"),
    () => opened.tombstone("nobody"),
    () => opened.edit("nobody", null),
    () => opened.messages({ before: "nobody" }),
    () => opened.path({ before: "nobody" }),
  ])
    expect(await codeOf(call())).toBe("not_found")
  expect(await opened.entry("nobody")).toBeUndefined()
})

test("branching away and back survives a restart", async () => {
  const { session, elsewhere } = await start()
  const [, second] = (await session.append([user("a"), assistant("b"), user("c")])).ids as [string, string, string]
  await session.branch(second)
  await session.append(user("other"))
  const { ids } = await branchWithSummary(session, null, "what was tried")
  expect((await session.entry(ids[0] as string))?.["fromId"]).not.toBe("root")
  await session.resetLeaf()
  const opened = await elsewhere.open("s")
  expect([session.leafId, opened.leafId]).toEqual([null, null])
  expect((await opened.context()).messages).toEqual([])
  await opened.append(user("new root"))
  expect(await contextTexts(opened)).toEqual(["new root"])
  const tree = await sessionTree(opened)
  expect(tree.roots).toHaveLength(4)
  expect(tree.path).toEqual([opened.leafId])
})

test("after resetLeaf the next entry has no parent, also behind annotations and in one go", async () => {
  const { session } = await start()
  await session.append(user("a"))
  const reset = session.resetLeaf()
  expect(session.leafId).toBeNull()
  const [, , { ids }] = await Promise.all([reset, session.title("t"), session.append(user("b"))])
  expect(await session.entry(ids[0] as string)).toMatchObject({ parentId: null })
  expect(await contextTexts(session)).toEqual(["b"])
})

test("if another writer goes on where resetLeaf was called, the leaf stays null, and follows only a new beginning", async () => {
  const { session, elsewhere } = await start()
  await session.append(user("a"))
  const before = await elsewhere.open("s")
  await session.resetLeaf()
  await before.append(user("goes on"))
  await session.title("one")
  expect(session.leafId).toBeNull()
  await session.resetLeaf()
  await before.close()
  const after = await elsewhere.open("s")
  const { ids } = await after.append(user("starts anew"))
  await session.title("two")
  expect(ids).toHaveLength(1)
  expect(await contextTexts(session)).toEqual(["starts anew"])
})

test("after resetLeaf an open branch of another writer is still reported", async () => {
  const { session, elsewhere } = await start()
  await session.append(user("a"))
  const before = await elsewhere.open("s")
  await session.append(user("b"))
  const { ids } = await before.append(user("c"))
  await before.close()
  await session.resetLeaf()
  const opened = await elsewhere.open("s")
  expect(opened.leafId).toBeNull()
  for (const { diagnostics } of [session, opened])
    expect(diagnostics).toMatchObject([{ code: "diverged", leaf: null, tips: [{ id: ids[0] }] }])
})

test("a reset that fails leaves the leaf as it was", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const { ids } = await session.append(user("a"))
  storage.fail("append", "quota")
  expect(await codeOf(session.resetLeaf())).toBe("quota")
  expect(session.leafId).toBe(ids[0])
})

test("a compaction cannot be edited", async () => {
  const { session } = await start()
  const compaction = {
    type: "compaction",
    id: "c",
    summary: "s",
    firstKeptEntryId: "c",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  } as const
  await session.append([user("a"), compaction])
  expect(await codeOf(session.edit("c", null))).toBe("invalid")
})

test("a null label removes the label; a null or empty title clears the title", async () => {
  const { session } = await start()
  const [id] = (await session.append(user("a"))).ids as [string]
  await session.label(id, "here")
  expect((await sessionTree(session)).roots[0]?.label).toBe("here")
  await session.label(id, null)
  expect((await sessionTree(session)).roots[0]).not.toHaveProperty("label")
  await session.title("named")
  await session.title("")
  expect(await session.info()).not.toHaveProperty("title")
  await session.title("by itself", { source: "auto" })
  expect(await session.info()).toMatchObject({ title: "by itself", titleSource: "auto" })
})

test("entries lists every entry in log order, in any range, including entries not yet written", async () => {
  const { session, elsewhere } = await start()
  const { ids } = await session.append([user("a", "1"), note("b", "2"), assistant("c", "3")])
  const pending = session.append(user("d", "4"))
  expect((await collect(session)).map(({ id }) => id)).toEqual(["1", "2", "3", "4"])
  await pending
  const opened = await elsewhere.open("s")
  expect((await collect(opened)).map(({ id, seq }) => [id, seq])).toEqual([
    ["1", 1],
    ["2", 2],
    ["3", 3],
    ["4", 4],
  ])
  expect((await collect(opened, { from: 2, to: 4 })).map(({ id }) => id)).toEqual(["2", "3"])
  expect(await collect(opened, { from: 9 })).toEqual([])
  expect(await collect(opened, { from: 3, to: 1 })).toEqual([])
  expect(ids).toEqual(["1", "2", "3"])
})

test("a session knows its bytes, its parts and its information", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ title: "named", cwd: "/x" })
  await session.metadata("k", 1)
  expect(await session.info()).toMatchObject({
    title: "named",
    cwd: "/x",
    metadata: { k: 1 },
    messageCount: 0,
  })
  await session.append(user("hello"))
  const { bytes, parts } = await session.parts()
  expect(bytes).toBeGreaterThan(0)
  expect(parts).toEqual([{ number: 1, from: 0, count: 3, bytes }])
  expect(await sessions.info(session.id)).toMatchObject({ messageCount: 1, bytes, metadata: { k: 1 } })
})

test("flush waits for the appends and makes them durable if the storage can", async () => {
  for (const sync of [true, false]) {
    const storage = createCountingStorage(createMemoryStorage(), { sync })
    const session = await createSessions({ storage }).create()
    const appended = session.append(user("hello"))
    await session.flush()
    expect(session.head?.next).toBe(2)
    await appended
    expect(storage.counted.syncs).toBe(sync ? 1 : 0)
  }
})

test("the information of an open session follows another writer's rewrite of its log, and detects a session created again", async () => {
  const { session, elsewhere, location } = await start()
  await session.append(user("a"))
  const storage = createMemoryStorage({ location })
  const head = (await storage.head("s")) as { next: number; log: string }
  const lines: string[] = []
  for await (const chunk of storage.read("s")) lines.push(...chunk.lines)
  const copy = async function* () {
    yield { from: 0, lines }
  }
  await storage.replace?.("s", copy(), { expect: head })
  expect(await session.info()).toMatchObject({ messageCount: 1, firstPrompt: "a" })
  await elsewhere.delete("s")
  await storage.append("s", [JSON.stringify({ ...session.header, timestamp: "2020-01-01T00:00:00.000Z" })], {
    expect: 0,
  })
  expect(await codeOf(session.info())).toBe("not_found")
})

async function start() {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  return { location, session, elsewhere: createSessions({ storage: createMemoryStorage({ location }) }) }
}

async function collect(session: Session, range: { from?: number; to?: number } = {}): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of session.entries(range)) entries.push(entry)
  return entries
}

test("a page of the path has its entries with their blobs, and none that was deleted", async () => {
  const { session } = await start()
  const long = "x".repeat(500_000)
  const { ids } = await session.append([user(long), assistant("b"), note("c"), user("d")])
  await session.tombstone(ids[1] as string)
  const { entries, before } = await session.path()
  expect(before).toBeUndefined()
  expect(entries.map(({ type }) => type)).toEqual(["message", "custom", "message", "tombstone"])
  expect(entries[0]).toMatchObject({ id: ids[0], message: { content: [{ text: long }] } })
  expect(await session.path({ types: ["message"], limit: 1 })).toEqual({ entries: [entries[2]], before: ids[3] })
  expect(await session.path({ before: ids[3] as string })).toEqual({ entries: entries.slice(0, 2) })
})

test.each<Parameters<Session["path"]>[0]>([
  { limit: 0 },
  { limit: 1_001 },
  { limit: 1.5 },
  { limit: "5" as never },
  { types: [] },
  { types: "message" as never },
  { types: [1 as never] },
])("a path asked for with %j is `invalid`", async (o) => {
  const { session } = await start()
  expect(await codeOf(session.path(o))).toBe("invalid")
})
