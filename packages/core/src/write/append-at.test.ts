/** `append` with `at`: a branch and the entries on it, in one batch. */
import { createFaultyStorage } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  note,
  reopened,
  storedEntries,
  storedIds,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { LeafEntry } from "../format/entry.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "../session/repository.ts"
import type { SessionsOptions } from "../session/repository-types.ts"
import { sessionBranches } from "../transfer/index.ts"

const CHAIN = [user("0", "0"), assistant("1", "1"), user("2", "2")]

test("a leaf and the entries behind it are one batch, and the ids are those of the entries", async () => {
  const { session, storage, location } = await chain()
  const before = storage.calls.length
  const { ids, head } = await session.append([assistant("b", "b"), user("c", "c")], { at: "0" })
  expect(storage.calls.slice(before).map(({ lines }) => lines.length)).toEqual([3])
  expect(ids).toEqual(["b", "c"])
  expect(head?.next).toBe(7)
  const [leaf, b, c] = (await storedEntries(location)).slice(3)
  expect(leaf).toMatchObject({ type: "leaf", parentId: "0", targetSeq: 1, settles: ["2"] })
  expect(b).toMatchObject({ id: "b", parentId: leaf?.id })
  expect(c).toMatchObject({ id: "c", parentId: "b" })
  expect(session.leafId).toBe("c")
  expect(await contextTexts(await reopened(location))).toEqual(["0", "b", "c"])
})

test("the list may be empty, and `leaf` adds fields to the leaf entry", async () => {
  const { session, location } = await chain()
  const op = { id: "op-1", n: 0 }
  expect(await session.append([], { at: "1", leaf: { op } })).toMatchObject({ ids: [] })
  const leaf = (await storedEntries(location)).at(-1) as LeafEntry
  expect(leaf).toMatchObject({ type: "leaf", parentId: "1", op })
  expect(session.leafId).toBe(leaf.id)
  expect(await contextTexts(session)).toEqual(["0", "1"])
})

test("at null begins before the first entry", async () => {
  const { session, location } = await chain()
  await session.append([user("new", "n")], { at: null })
  expect(await contextTexts(session)).toEqual(["new"])
  expect(await contextTexts(await reopened(location))).toEqual(["new"])
  await session.append([], { at: null })
  expect(session.leafId).toBe(null)
})

test("the leaf settles what that of `branch` settles: the tip that is left, and with a choice between tips the reported ones", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await Promise.all([one.append(user("one", "a")), two.append(user("two", "b"))])
  expect((await two.info()).openTips?.tips.map(({ id }) => id)).toEqual(["a"])
  await two.append(user("more", "c"), { at: "a" })
  expect((await two.info()).openTips).toEqual({ tips: [] })
  // A step back to an inner entry settles its own tip alone.
  await two.append([user("again", "d")], { at: "0" })
  const branches = await sessionBranches(two)
  expect(branches.map(({ id, settled, current }) => ({ id, settled, current }))).toEqual([
    { id: "d", settled: false, current: true },
    { id: "c", settled: true, current: false },
    { id: "b", settled: true, current: false },
  ])
})

test("what another writer appends meanwhile is not settled, and is an open tip", async () => {
  const { location, one, two } = await twoWriters({}, CHAIN)
  await one.append(user("theirs", "x"))
  const { diverged } = await two.append(user("mine", "y"), { at: "0" })
  expect(diverged?.tips.map(({ id }) => id)).toEqual(["x"])
  const entries = await storedEntries(location)
  expect(entries.find(({ type }) => type === "leaf")).toMatchObject({ parentId: "0", settles: ["2"] })
  expect((await (await reopened(location)).info()).openTips?.tips.map(({ id }) => id)).toEqual(["x"])
})

test('with onConflict "fail" another writer refuses the whole batch, and its annotations do not', async () => {
  const { location, one, two } = await twoWriters({}, CHAIN)
  await one.append(note("aside"))
  await two.append([user("mine", "y")], { at: "0", onConflict: "fail" })
  await one.append(user("theirs", "x"))
  expect(await codeOf(two.append([user("again", "z")], { at: "1", onConflict: "fail" }))).toBe("conflict")
  expect(two.leafId).toBe("x")
  const ids = await storedIds(location)
  expect(ids).not.toContain("z")
  expect((await storedEntries(location)).filter(({ type }) => type === "leaf")).toHaveLength(1)
})

test("an entry that is not held is read first, while the caller may change its objects", async () => {
  const { location } = await chain()
  const long = await reopened(location)
  for (let n = 0; n < 50; n++) await long.append(user("x".repeat(1_000)))
  const session = await small(location).open("s")
  const message: { role: "user"; content: string } = { role: "user", content: "as given" }
  const leaf = { op: "as given" }
  const appended = session.append([{ type: "message", id: "n", message }], { at: "1", leaf })
  message.content = "changed"
  leaf.op = "changed"
  await appended
  expect(await contextTexts(session)).toEqual(["0", "1", "as given"])
  expect((await storedEntries(location)).at(-2)).toMatchObject({ type: "leaf", op: "as given" })
  expect(
    await codeOf(
      small(location)
        .open("s")
        .then((one) => one.append([], { at: "none" })),
    ),
  ).toBe("not_found")
})

test("an append to a held entry takes its place before appends that are made after it", async () => {
  const { session, location } = await chain()
  const first = session.append([user("b", "b")], { at: "0" })
  expect(session.leafId).toBe("b")
  await Promise.all([first, session.append(user("c", "c"))])
  expect((await storedEntries(location)).at(-1)).toMatchObject({ id: "c", parentId: "b" })
})

test("a compaction behind `at` has the state of that path", async () => {
  const { session, location } = await chain()
  await session.append({ type: "model_change", provider: "p", model: "later" })
  const compaction = { type: "compaction", summary: "s", tokensBefore: 1, readFiles: [], modifiedFiles: [] } as const
  await session.append({ type: "model_change", id: "m", provider: "p", model: "there" }, { at: "1" })
  await session.append({ ...compaction, id: "k", firstKeptEntryId: "k" }, { at: "2" })
  const entries = await storedEntries(location)
  expect(entries.find(({ id }) => id === "k")).toMatchObject({ state: { models: {}, modelIsExplicit: false } })
  await session.append({ ...compaction, id: "l", firstKeptEntryId: "l" }, { at: "m" })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ state: { models: { default: { model: "there" } } } })
  await session.append({ type: "reset_boundary" }, { at: null })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ state: { models: {} } })
})

test("a repeated append writes nothing; one that was written in part is completed behind its first entries", async () => {
  const { session, location } = await chain()
  const entries = [user("b", "b"), assistant("c", "c"), user("d", "d")]
  await session.append(entries.slice(0, 1), { at: "0", leaf: { op: 1 } })
  const lines = (await storedIds(location)).length
  expect(await session.append(entries.slice(0, 1), { at: "0", leaf: { op: 1 } })).toMatchObject({ ids: ["b"] })
  expect(await storedIds(location)).toHaveLength(lines)
  // The rest follows the leaf: no second `leaf` entry.
  expect((await session.append(entries.slice(0, 2), { at: "0" })).ids).toEqual(["b", "c"])
  expect((await storedIds(location)).slice(lines)).toEqual(["c"])
  // The leaf is elsewhere: the rest branches off behind what is there.
  await session.branch("2")
  expect((await session.append(entries, { at: "0" })).ids).toEqual(["b", "c", "d"])
  expect((await storedEntries(location)).at(-2)).toMatchObject({ type: "leaf", parentId: "c" })
  expect(await contextTexts(session)).toEqual(["0", "b", "c", "d"])
})

test("a crash in a storage that keeps a prefix of a batch leaves a branch without its last entries, and a repeat completes it", async () => {
  const { session, storage, location } = await chain({}, "prefix")
  const entries = [user("b", "b"), assistant("c", "c")]
  storage.fail("append", "prefix", "unavailable", "unavailable", "unavailable")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(session.append(entries, { at: "0" }))).toBe("indeterminate")
  const next = await reopened(location)
  expect((await storedEntries(location)).map(({ type }) => type).slice(3)).toEqual(["leaf"])
  expect(await contextTexts(next)).toEqual(["0"])
  await next.append(entries, { at: "0" })
  expect(await contextTexts(next)).toEqual(["0", "b", "c"])
})

test("hooks see the leaf entry, and one that returns another object does not lose its target", async () => {
  const seen: string[] = []
  const append = (entry: NewEntry): NewEntry => {
    seen.push(entry.type)
    return JSON.parse(JSON.stringify(entry)) as NewEntry
  }
  const { session, location } = await chain({ hooks: { append } })
  await session.append([user("b", "b")], { at: "0", leaf: { op: 1 } })
  await session.branch("1")
  expect(seen.slice(3)).toEqual(["leaf", "message", "leaf"])
  const entries = await storedEntries(location)
  expect(entries[3]).toMatchObject({ type: "leaf", parentId: "0", op: 1 })
  expect(entries[5]).toMatchObject({ type: "leaf", parentId: "1" })
})

test("in a turn, an append with `at` is its first append, and another writer starts the turn over", async () => {
  const { one, two } = await twoWriters({}, CHAIN)
  await one.append(user("theirs", "x"))
  const attempts: number[] = []
  await two.turn(async (turn, { attempt }) => {
    attempts.push(attempt)
    await turn.append([user("mine")], { at: "0" })
  })
  expect(attempts).toEqual([0, 1])
})

test("wrong options are `invalid`, and nothing is written", async () => {
  const { session, location } = await chain()
  const entry = [user("n", "n")]
  for (const [entries, o] of [
    [entry, { at: 7 }],
    [entry, { leaf: {} }],
    [entry, { at: "0", leaf: [] }],
    [entry, { at: "0", leaf: null }],
    [entry, { at: "0", onConflict: "rebase" }],
    [[], {}],
    ...["type", "id", "parentId", "seq", "timestamp", "blobs", "targetSeq", "settles"].map((field) => [
      entry,
      { at: "0", leaf: { [field]: "x" } },
    ]),
  ] as [NewEntry[], object][])
    expect(await codeOf(session.append(entries, o))).toBe("invalid")
  const o = { at: "0" } as object
  expect(await codeOf(session.branch("0", o))).toBe("invalid")
  expect(await codeOf(session.resetLeaf(o))).toBe("invalid")
  expect(await codeOf(session.settle([], o))).toBe("invalid")
  expect(await codeOf(session.label("0", "x", o))).toBe("invalid")
  expect(await codeOf(session.title("x", o))).toBe("invalid")
  expect(await codeOf(session.append(entry, { at: "none" }))).toBe("not_found")
  expect(await storedIds(location)).toEqual(["0", "1", "2"])
  expect(session.leafId).toBe("2")
})

async function chain(o: Omit<SessionsOptions, "storage"> = {}, atomicBatch: "all" | "prefix" = "all") {
  const location = createMemoryLocation()
  const storage = createFaultyStorage(createMemoryStorage({ location }), { capabilities: { atomicBatch } })
  const session = await createSessions({ storage, ...o }).create({ id: "s", entries: CHAIN })
  return { session, storage, location }
}

/** A repository that reads a few lines at a time. */
function small(location: ReturnType<typeof createMemoryLocation>) {
  return createSessions({ storage: createMemoryStorage({ location }), readWindow: { first: 2_000, largest: 2_000 } })
}
