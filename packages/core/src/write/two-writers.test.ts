import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import type { Divergence } from "../log/diverged.ts"
import type { Session } from "../session/types.ts"

function divergences(session: Session): Divergence[] {
  const seen: Divergence[] = []
  session.on("diverged", (divergence) => seen.push(divergence))
  return seen
}

function told(diagnostics: readonly Diagnostic[]): object[] {
  return diagnostics.filter(({ code }) => code === "diverged").map(({ leaf, otherLeaf }) => ({ leaf, otherLeaf }))
}

const parents = (entries: readonly Entry[]): (string | null)[][] => entries.map(({ id, parentId }) => [id, parentId])

test("two processes that append at once keep both branches, and the second one reports the conflict", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const seen = divergences(two)
  const [first, second] = await Promise.all([
    one.append([user("one", "a1"), assistant("one", "a2")]),
    two.append([user("two", "b1"), assistant("two", "b2")]),
  ])
  expect(first.diverged).toBeUndefined()
  const divergence = { leaf: "b2", otherLeaf: "a2", tips: [{ seq: 3, id: "a2" }] }
  expect(second.diverged).toEqual(divergence)
  expect(seen).toEqual([divergence])
  expect(parents(await storedEntries(location))).toEqual([
    ["0", null],
    ["a1", "0"],
    ["a2", "a1"],
    ["b1", "0"],
    ["b2", "b1"],
  ])
  expect(await contextTexts(one)).toEqual(["start", "one", "one"])
  expect(await contextTexts(two)).toEqual(["start", "two", "two"])
})

test("a live session keeps its own leaf", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("two", "b"))
  const appended = await one.append(user("one", "a"))
  expect(appended.diverged).toEqual({ leaf: "a", otherLeaf: "b", tips: [{ seq: 2, id: "b" }] })
  expect(one.leafId).toBe("a")
  await one.append(user("one again", "a2"))
  expect(await contextTexts(one)).toEqual(["start", "one", "one again"])
})

test("opening a log whose last two tips interleave reports both leaves, and stops doing so after a branch", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await Promise.all([one.append(user("one", "a")), two.append(user("two", "b"))])
  const opened = await reopened(location)
  expect(opened.leafId).toBe("b")
  expect(told(opened.diagnostics)).toEqual([{ leaf: "b", otherLeaf: "a" }])
  await opened.branch("a")
  const again = await reopened(location)
  expect(told(again.diagnostics)).toEqual([])
  expect(await contextTexts(again)).toEqual(["start", "one"])
})

test("a session reports only the last of many divergences, however long two writers continue", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  for (let n = 0; n < 5; n++) {
    await one.append(user(`one ${n}`, `a${n}`))
    await two.append(user(`two ${n}`, `b${n}`))
  }
  expect(told(one.diagnostics)).toEqual([{ leaf: "a4", otherLeaf: "b3" }])
})

test("another writer's lines are reported once, in order", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const seen: string[] = []
  one.on("foreign", ({ entries }) => seen.push(...entries.map((entry) => entry.id)))
  await two.append([user("two", "b1"), note("side", "b2")])
  await one.append(user("one", "a"))
  await one.append(user("one", "c"))
  expect(seen).toEqual(["b1", "b2"])
})

test("a rename by a writer that is 5 entries behind leaves the context as it was", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const seen = divergences(two)
  for (let n = 1; n <= 5; n++) await one.append(n % 2 === 0 ? assistant(`m${n}`) : user(`m${n}`))
  const before = await contextTexts(await reopened(location))
  await two.title("renamed")
  const after = await reopened(location)
  expect(await contextTexts(after)).toEqual(before)
  expect((await after.info()).title).toBe("renamed")
  expect(told(after.diagnostics)).toEqual([])
  expect(seen).toEqual([])
  // It has no entries of its own beside the other's turn, so it continues behind that turn.
  expect(await contextTexts(two)).toEqual(before)
})

test("another writer's annotations are no divergence", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const seen = divergences(one)
  await two.append([note("n1"), { type: "usage", kind: "title", usage: { input: 1 } }])
  await two.label("0", "the start")
  const appended = await one.append(assistant("one", "a"))
  expect(appended.diverged).toBeUndefined()
  expect(seen).toEqual([])
  const opened = await reopened(location)
  expect(await contextTexts(opened)).toEqual(["start", "one"])
  expect(told(opened.diagnostics)).toEqual([])
})

test("an annotation after a divergence moves neither this session's branch nor the log's", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await one.append(user("one", "a"))
  await two.append(user("two", "b"))
  expect((await reopened(location)).leafId).toBe("b")
  await one.label("a", "mine")
  expect(await contextTexts(one)).toEqual(["start", "one"])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two"])
  await one.title("named")
  expect(await contextTexts(one)).toEqual(["start", "one"])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two"])
  await one.append(user("one again", "a2"))
  expect(await contextTexts(one)).toEqual(["start", "one", "one again"])
  expect(one.leafId).toBe("a2")
  const opened = await reopened(location)
  expect(await contextTexts(opened)).toEqual(["start", "one", "one again"])
  expect(told(opened.diagnostics)).toHaveLength(1)
})

test("a rejected annotation leaves the leaf where it was, on any branch", async () => {
  const { one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  await one.append(user("one", "a"))
  await two.append(user("two", "b"))
  await one.label("a", "mine")
  writerOne.storage.fail("append", "quota")
  const outcomes = [codeOf(one.append(note("lost"))), codeOf(one.append(user("lost")))]
  expect(await Promise.all(outcomes)).toEqual(["quota", "quota"])
  expect(one.leafId).toBe("a")
})

test('with onConflict "fail" nothing is written, and the session is on the leaf of the other writer', async () => {
  const { location, one, two } = await twoWriters({ onConflict: "fail" }, [user("start", "0")])
  await two.append(user("two", "b"))
  const rolledBack: string[] = []
  one.on("rolled_back", ({ ids }) => rolledBack.push(...ids))
  const outcomes = [codeOf(one.append(user("one", "a"))), codeOf(one.append(note("behind", "n")))]
  expect(await Promise.all(outcomes)).toEqual(["conflict", "conflict"])
  expect(rolledBack).toEqual(["a", "n"])
  expect(await storedIds(location)).toEqual(["0", "b"])
  expect(await contextTexts(one)).toEqual(["start", "two"])
  await one.append(user("one", "a"))
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "one"])
})

test("a repeated append with the same entry id is written once, also across two writers", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("request", "r"))
  expect(await one.append([user("request", "r"), assistant("answer", "x")])).toMatchObject({ ids: ["r", "x"] })
  expect(parents(await storedEntries(location))).toEqual([
    ["0", null],
    ["r", "0"],
    ["x", "r"],
  ])
  const [a, b] = await Promise.all([one.append(user("again", "r2")), two.append(user("again", "r2"))])
  expect([a.ids, b.ids]).toEqual([["r2"], ["r2"]])
  expect((await storedIds(location)).filter((id) => id === "r2")).toHaveLength(1)
})

test("a partly written append is completed, whatever onConflict its caller chose", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "0")])
  writerOne.storage.fail("append", "prefix")
  writerOne.storage.fail("head", "unavailable", "unavailable", "unavailable")
  const batch = [user("one", "a1"), assistant("one", "a2")]
  expect(await codeOf(one.append(batch, { onConflict: "fail" }))).toBe("indeterminate")
  await (await reopened(location)).append(user("other", "x"))
  await one.flush()
  expect(await storedIds(location)).toEqual(["0", "a1", "x", "a2"])
  expect(await contextTexts(one)).toEqual(["start", "one", "one"])
})

test("if another writer takes an id of a partly written append, the error says that the entries before it are written", async () => {
  const { location, one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  writerOne.storage.fail("append", "prefix", "unavailable", "unavailable")
  const refused = one.append([user("one", "a1"), assistant("one", "a2"), user("one", "a3")])
  await two.append(user("other content", "a2"))
  await expect(refused).rejects.toMatchObject({ code: "exists", sent: true })
  expect(await storedIds(location)).toEqual(["0", "a1", "a2"])
  await expect(one.append(user("wrong", "a1"))).rejects.not.toHaveProperty("sent")
})

test("after a lost response, a session continues behind the writer that continued from its entries", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "0")])
  const seen = divergences(one)
  writerOne.storage.fail("append", "response lost")
  writerOne.storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(one.append(user("one", "a")))).toBe("indeterminate")
  await (await reopened(location)).append(assistant("other", "x"))
  await one.append(note("side", "n"))
  expect(await contextTexts(one)).toEqual(["start", "one", "other"])
  expect(seen).toEqual([])
  expect(parents(await storedEntries(location)).at(-1)).toEqual(["n", "x"])
})

test("a session deleted under its writer is `not_found`, and nothing is written", async () => {
  const { location, one, writerTwo } = await twoWriters({}, [user("start", "0")])
  await writerTwo.sessions.delete("s")
  expect(await codeOf(one.append(user("late")))).toBe("not_found")
  expect(await codeOf(one.append(note("late")))).toBe("not_found")
  expect(await createMemoryStorage({ location }).head("s")).toBeUndefined()
})

for (const before of [[], [user("start", "0")]]) {
  test(`a session with ${before.length} entries that was deleted and created again is not_found, and nothing is written`, async () => {
    const now = (): number => 1_800_000_000_000
    const { location, one, writerTwo } = await twoWriters({ now }, before)
    await writerTwo.sessions.delete("s")
    await (await writerTwo.sessions.create({ id: "s" })).append(user("another", "x"))
    expect(await codeOf(one.append(user("late")))).toBe("not_found")
    expect(await storedIds(location)).toEqual(["x"])
  })
}

test("a session whose log another writer has rewritten continues in the new log", async () => {
  const { location, one } = await twoWriters({}, [user("start", "0"), assistant("answer", "1")])
  const other = createMemoryStorage({ location })
  const head = await other.head("s")
  const lines: string[] = []
  for await (const chunk of other.read("s")) lines.push(...chunk.lines)
  const [header, ...entries] = lines as [string, ...string[]]
  const extra =
    '{"type":"custom","id":"m","parentId":null,"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","customType":"c"}'
  async function* chunks(): AsyncGenerator<{ from: number; lines: string[] }> {
    yield { from: 0, lines: [header, extra, ...entries] }
  }
  await other.replace?.("s", chunks(), { expect: { next: 3, log: head?.log ?? "" } })
  const [first, second] = await Promise.all([one.append(user("on", "2")), one.append(assistant("and on", "3"))])
  expect([first.head?.next, second.head?.next]).toEqual([5, 6])
  expect(await storedIds(location)).toEqual(["m", "0", "1", "2", "3"])
  expect((await storedEntries(location)).map(({ seq }) => seq).slice(3)).toEqual([4, 5])
  expect(await contextTexts(one)).toEqual(["start", "answer", "on", "and on"])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "answer", "on", "and on"])
})

// A reader of a storage without transactions may see a write in progress that then fails.
test("lines that were seen of a failed write leave memory, and later appends succeed", async () => {
  const location = createMemoryLocation()
  const sure = createWriter(location)
  const session = await sure.sessions.create({ id: "s" })
  await session.append(user("start", "0"))
  const seeing = createWriter(location, { faulty: { capabilities: { atomicBatch: "prefix" } } })
  const two = await seeing.sessions.open("s")
  const log = location.logs.get("s")
  const ghost = JSON.stringify({ ...(await storedEntries(location))[0], id: "ghost", parentId: "0", seq: 2 })
  log?.lines.push(ghost)
  await two.refresh()
  expect(two.leafId).toBe("ghost")
  log?.lines.pop()
  await two.append(user("on", "1"))
  await two.append(assistant("and on", "2"))
  expect(parents(await storedEntries(location)).slice(0, 1)).toEqual([["0", null]])
  expect(await storedIds(location)).toEqual(["0", "1", "2"])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "on", "and on"])
  expect(await contextTexts(two)).toEqual(["start", "on", "and on"])
  expect((await two.info()).messageCount).toBe(3)
})

test("continuing from a message includes the annotations on it", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const seen = divergences(one)
  await one.label("0", "named")
  await two.append(assistant("two", "b"))
  await one.title("titled")
  expect(seen).toEqual([])
  expect(await contextTexts(one)).toEqual(["start", "two"])
})

test("a request that another writer has partly written is acknowledged when all of it is in the log", async () => {
  const { location, one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  const release = writerOne.storage.hold("append")
  writerOne.storage.fail("append", undefined, "quota")
  const first = codeOf(one.append(user("one", "a")))
  const both = codeOf(one.append([user("one", "a"), assistant("two", "b")]))
  await two.append(assistant("two", "b"))
  release()
  expect(await Promise.all([first, both])).toEqual(["quota", "quota"])
  expect(await storedIds(location)).toEqual(["0", "b"])
})

test("appends queued before one that another writer has partly written are resolved like any other", async () => {
  const { location, one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  const release = writerOne.storage.hold("append")
  writerOne.storage.fail("append", undefined, "corrupt")
  const outcomes = [codeOf(one.append(note("n", "n"))), codeOf(one.append([user("one", "a"), assistant("one", "x")]))]
  await two.append(user("one", "a"))
  release()
  expect(await Promise.all(outcomes)).toEqual(["corrupt", "corrupt"])
  await one.append([user("one", "a"), assistant("one", "x")])
  expect(await storedIds(location)).toEqual(["0", "a", "x"])
})
