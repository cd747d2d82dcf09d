import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  storedIds,
  storedLines,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { Session } from "../session/types.ts"
import type { Chunk } from "../storage/contract.ts"
import { piLogs } from "../transfer/migrate/index.ts"

/** A reader may see lines of a write that then fails. */
const PREFIX = { faulty: { capabilities: { atomicBatch: "prefix" } } } as const

/** The entries that were reported as another writer's, and the other branches that were reported. */
function heard(session: Session): { readonly foreign: string[]; readonly diverged: string[] } {
  const events = { foreign: [] as string[], diverged: [] as string[] }
  session.on("foreign", ({ entries }) => events.foreign.push(...entries.map(({ id }) => id)))
  session.on("diverged", ({ otherLeaf }) => events.diverged.push(otherLeaf))
  return events
}

test("refresh brings in what another writer appended, and the leaf follows it", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const events = heard(one)
  await two.append([user("a", "a"), assistant("b", "b")])
  await two.title("named")
  expect(await one.refresh()).toEqual(two.head)
  expect(one.head).toEqual(two.head)
  expect(one.leafId).toBe(two.leafId)
  expect(await contextTexts(one)).toEqual(["start", "a", "b"])
  expect((await one.info()).title).toBe("named")
  expect(events).toEqual({ foreign: ["a", "b", two.leafId], diverged: [] })
  await one.append(user("c", "c"))
  expect(await contextTexts(one)).toEqual(["start", "a", "b", "c"])
})

test("refresh of a log that did not change reports nothing, and reads one line", async () => {
  const { one, writerOne } = await twoWriters({}, [user("start", "0"), user("more")])
  const events = heard(one)
  const before = writerOne.storage.calls.length
  expect(await one.refresh()).toEqual(one.head)
  expect(writerOne.storage.calls.slice(before).map(({ operation }) => operation)).toEqual(["head", "read"])
  expect(events).toEqual({ foreign: [], diverged: [] })
})

test("another branch is reported by refresh as by an append, once, and the own leaf stays", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await one.append(user("one", "a"))
  await two.append(user("two", "b"))
  const events = heard(one)
  await one.refresh()
  await one.refresh()
  expect(one.leafId).toBe("a")
  expect(events).toEqual({ foreign: ["b"], diverged: ["b"] })
  expect(one.diagnostics).toMatchObject([{ code: "diverged", leaf: "a", otherLeaf: "b" }])
})

test("refresh waits for the batch in flight, and takes its place before those behind it", async () => {
  const { one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  const release = writerOne.storage.hold("append")
  const first = one.append(user("one", "a"))
  const refreshed = one.refresh()
  const second = one.append(user("one", "c"), { onConflict: "fail" })
  const failed = codeOf(second)
  await two.append(user("two", "b"))
  release()
  await first
  await refreshed
  expect(await failed).toBe("conflict")
  expect((await first).diverged).toMatchObject({ leaf: "a", otherLeaf: "b" })
  expect(one.leafId).toBe("a")
})

test("calls that wait together are answered by one reading, and a later one reads again", async () => {
  const { one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  const release = writerOne.storage.hold("head")
  const early = one.refresh()
  const waiting = [one.refresh(), one.refresh()]
  await two.append(user("two", "b"))
  const before = writerOne.storage.calls.length
  release()
  await Promise.all([early, ...waiting])
  expect(one.leafId).toBe("b")
  const heads = writerOne.storage.calls.slice(before).filter(({ operation }) => operation === "head")
  expect(heads).toHaveLength(1)
})

test("a caller that refreshes without a pause holds up no append", async () => {
  const { one } = await twoWriters({}, [user("start", "0")])
  let appended = false
  const append = one.append(user("a", "a")).then(() => (appended = true))
  let refreshes = 0
  for (; !appended && refreshes < 100; refreshes++) await one.refresh()
  expect(refreshes).toBeLessThan(5)
  await append
})

test("inside a turn that has begun to write the leaf stays, and moves on when the turn has ended", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const events = heard(one)
  await one.turn(async (turn) => {
    await turn.append([user("question", "q"), assistant("answer", "a")])
    await two.refresh()
    await two.append(user("next", "n"))
    await turn.refresh()
    expect(events.foreign).toEqual(["n"])
    expect(turn.leafId).toBe("a")
  })
  expect(one.leafId).toBe("n")
  expect(one.diagnostics).toEqual([])
  await one.append(assistant("to it", "t"))
  expect(await contextTexts(one)).toEqual(["start", "question", "answer", "next", "to it"])
})

test("a turn that goes on writing after another writer continued it becomes a branch", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const events = heard(one)
  await one.turn(async (turn) => {
    await turn.append(user("question", "q"))
    await two.refresh()
    await two.append(user("next", "n"))
    await turn.refresh()
    await turn.append(assistant("answer", "a"))
  })
  expect(one.leafId).toBe("a")
  expect(events.diverged).toEqual(["n"])
  expect(await contextTexts(one)).toEqual(["start", "question", "answer"])
})

test("a turn that has not written yet starts over after a refresh that found another writer's turn", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const attempts: number[] = []
  await one.turn(async (turn, { attempt }) => {
    attempts.push(attempt)
    if (attempt === 0) {
      await two.append(user("theirs", "b"))
      await turn.refresh()
    }
    await turn.append(user("mine", "a"))
  })
  expect(attempts).toEqual([0, 1])
  expect(await contextTexts(one)).toEqual(["start", "theirs", "mine"])
})

test.each(["arrived", "was lost"])("refresh finds out that an append of unknown outcome %s", async (what) => {
  const { one, writerOne, location } = await twoWriters({}, [user("start", "0")])
  writerOne.storage.fail("append", what === "arrived" ? "response lost" : "request lost")
  writerOne.storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(one.append(user("a", "a")))).toBe("indeterminate")
  await one.refresh()
  await one.flush()
  expect(await storedIds(location)).toEqual(["0", "a"])
  expect(one.head?.next).toBe(3)
})

test("an append of unknown outcome that did not arrive is written behind the lines that a refresh found", async () => {
  const { one, two, writerOne, location } = await twoWriters({}, [user("start", "0")])
  writerOne.storage.fail("append", "late")
  writerOne.storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(one.append(user("a", "a")))).toBe("indeterminate")
  await two.append(user("b", "b"))
  await one.refresh()
  await one.flush()
  expect(await writerOne.storage.deliver()).toBe(false)
  expect(await storedIds(location)).toEqual(["0", "b", "a"])
})

test("a session that was deleted, or deleted and created again, is `not_found`", async () => {
  const { one, writerTwo } = await twoWriters({}, [user("start", "0")])
  await writerTwo.sessions.delete("s")
  await expect(one.refresh()).rejects.toMatchObject({
    code: "not_found",
    message: expect.not.stringMatching(/written/),
  })
  await writerTwo.sessions.create({ id: "s" })
  expect(await codeOf(one.refresh())).toBe("not_found")
  expect(one.leafId).toBe("0")
})

test("a log that was replaced by a migration is read again, and what is new in it is reported", async () => {
  const { one, two, location } = await twoWriters({}, [user("start", "0")])
  const events = heard(one)
  await two.append(user("b", "b"))
  await replaceLog(location)
  await one.refresh()
  expect(events.foreign).toEqual(["b"])
  expect(await contextTexts(one)).toEqual(["start", "b"])
  await one.append(user("c", "c"))
  expect(await storedIds(location)).toEqual(["0", "b", "c"])
})

test("lines that were read of a write that then failed leave memory, even if others have taken their place", async () => {
  const location = createMemoryLocation()
  const one = await createWriter(location, PREFIX).sessions.create({ id: "s" })
  await one.append(user("start", "0"))
  const two = await createWriter(location, PREFIX).sessions.open("s")
  await two.append(user("b", "b"))
  await one.refresh()
  expect(one.leafId).toBe("b")
  const lines = location.logs.get("s")?.lines as string[]
  lines[2] = (lines[2] as string).replace('"id":"b"', '"id":"c"')
  const events = heard(one)
  await one.refresh()
  expect(events.foreign).toEqual(["c"])
  expect(one.leafId).toBe("c")
  lines.length = 2
  await one.refresh()
  expect(one.leafId).toBe("0")
  expect(one.head?.next).toBe(2)
})

// The one is tried again, the other is not.
test.each(["unavailable", "corrupt"] as const)(
  "a storage that is %s rejects the refresh, and no append",
  async (code) => {
    const { one, two, writerOne } = await twoWriters({}, [user("start", "0")])
    await two.append(note("b"))
    writerOne.storage.fail("read", ...Array.from({ length: code === "corrupt" ? 1 : 3 }, () => code))
    expect(await codeOf(one.refresh())).toBe(code)
    expect(one.head?.next).toBe(2)
    await one.append(user("a", "a"))
    await one.refresh()
    expect(one.head).toMatchObject({ next: 4 })
  },
)

test("a refresh that is aborted rejects, and the reading goes on", async () => {
  const { one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  await two.append(user("b", "b"))
  const release = writerOne.storage.hold("head")
  const controller = new AbortController()
  const refreshed = codeOf(one.refresh({ signal: controller.signal }))
  controller.abort()
  expect(await refreshed).toBe("aborted")
  release()
  await one.refresh()
  expect(one.leafId).toBe("b")
})

const OLDER = [
  { type: "session", version: 3, id: "o", timestamp: "2025-01-01T00:00:00.000Z" },
  ...["a", "b"].map((id, index) => ({
    type: "message",
    id,
    parentId: index === 0 ? null : "a",
    timestamp: "2025-01-01T00:00:00.000Z",
    message: { role: "user", content: id },
  })),
].map((record) => JSON.stringify(record))

test("a log of an older version is refreshed once this session has migrated it; another change is a `conflict`", async () => {
  const location = createMemoryLocation()
  const head = await createMemoryStorage({ location }).append("o", OLDER.slice(0, 2), { expect: 0 })
  const reader = await createWriter(location, { readers: [piLogs] }).sessions.open("o")
  expect(await reader.refresh()).toEqual(head)
  await createMemoryStorage({ location }).append("o", OLDER.slice(2), { expect: head })
  await expect(reader.refresh()).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringMatching(/Open the session again/),
  })
  const writer = await createWriter(location, { readers: [piLogs] }).sessions.open("o")
  const appended = writer.append(user("c", "c"))
  await writer.refresh()
  await appended
  const other = await createWriter(location).sessions.open("o")
  await other.append(user("d", "d"))
  await writer.refresh()
  expect(await contextTexts(writer)).toEqual(["a", "b", "c", "d"])
})

/** Exchanges the log for the same lines under a new identity, as a migration does. */
async function replaceLog(location: ReturnType<typeof createMemoryLocation>): Promise<void> {
  const storage = createMemoryStorage({ location })
  const lines = await storedLines(storage)
  const chunks = async function* (): AsyncGenerator<Chunk> {
    yield { from: 0, lines }
  }
  const { next, log } = (await storage.head("s")) ?? { next: 0, log: "" }
  await storage.replace?.("s", chunks(), { expect: { next, log } })
}
