/** Entries whose id the session has already: the same content is written once, other content is refused. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createIds, ulidAt } from "@sessions/core/format"
import { expect, test } from "vitest"
import { codeOf, createWriter, storedEntries, storedIds, twoWriters, user } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "../session/repository.ts"
import type { Session } from "../session/types.ts"
import type { SessionsOptions } from "../session/repository-types.ts"

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
const ID = ulidAt(START, 1)

/** A log of lines of 1 KB, one an hour by default, behind an entry with the id {@link ID}; opened by a new repository that holds its end. */
async function coldStart(
  o: { lines?: number; step?: number; first?: NewEntry; blobs?: SessionsOptions["blobs"] } = {},
) {
  const { lines = 300, step = HOUR, first = user("pay", ID), blobs = {} } = o
  const location = createMemoryLocation()
  let time = START
  const now = (): number => time
  const made = await createSessions({ storage: createMemoryStorage({ location }), now, blobs }).create({ id: "s" })
  await made.append(first)
  for (let n = 0; n < lines; n++) {
    time += step
    await made.append(user("-".repeat(1_000)))
  }
  const memory = createMemoryStorage({ location })
  const counted = { lines: 0 }
  const storage = {
    ...memory,
    async *read(...args: Parameters<typeof memory.read>) {
      for await (const chunk of memory.read(...args)) {
        counted.lines += chunk.lines.length
        yield chunk
      }
    },
  }
  const session = await createSessions({ storage, now, blobs }).open("s")
  counted.lines = 0
  return { location, session, counted, setTime: (to: number) => void (time = to), now }
}

async function countOf(location: Parameters<typeof storedIds>[0], id: string): Promise<number> {
  return (await storedIds(location)).filter((each) => each === id).length
}

test("the same id with other content is refused with `exists`, in memory and in the log", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  await session.append(user("first", "a"))
  for (const other of [
    user("second", "a"),
    { ...user("first", "a"), extra: 1 },
    { type: "custom", customType: "x", id: "a" },
  ])
    expect(await codeOf(session.append(other as NewEntry))).toBe("exists")
  const release = storage.hold("append")
  const pending = session.append(user("pending", "b"))
  expect(await codeOf(session.append([user("new", "c"), user("other", "b")]))).toBe("exists")
  release()
  await pending
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("the order of keys, the timestamp, and a string for a text block do not count as other content", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  await session.append({ id: "a", type: "custom", customType: "x", data: { one: 1, two: [2, { three: 3 }] } })
  const again = { data: { two: [2, { three: 3 }], one: 1 }, customType: "x", type: "custom", id: "a" } as const
  expect((await session.append({ ...again, timestamp: "2020-01-01T00:00:00.000Z" })).ids).toEqual(["a"])
  await session.append(user("text", "b"))
  const blocks = [{ type: "text", text: "text" }] as const
  expect((await session.append({ id: "b", type: "message", message: { content: blocks, role: "user" } })).ids).toEqual([
    "b",
  ])
  await session.append({
    id: "c",
    type: "compaction",
    summary: "s",
    firstKeptEntryId: "b",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  })
  await session.append({
    id: "c",
    type: "compaction",
    summary: "s",
    firstKeptEntryId: "b",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  })
  expect(session.head?.next).toBe(4)
})

test("fields that the session gives some types are content of an entry of another type", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  const task = {
    type: "acme:task" as const,
    id: "t",
    state: "open",
    settles: "later",
    targetSeq: 1,
    firstKeptSeq: 2,
    system: 3,
  }
  await session.append(task)
  for (const field of ["state", "settles", "targetSeq", "firstKeptSeq", "system"])
    expect([field, await codeOf(session.append({ ...task, [field]: "other" }))]).toEqual([field, "exists"])
  expect((await session.append(task)).ids).toEqual(["t"])
})

test("a compaction that carries system messages is repeated like any other entry", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const system = { type: "message", id: "a", message: { role: "system", content: "Be brief." } } as const
  await session.append([system, user("hi", "b")])
  const rest = { summary: "s", firstKeptEntryId: "b", tokensBefore: 1, readFiles: [], modifiedFiles: [] }
  const compaction = { type: "compaction", id: "c", ...rest } as const
  await session.append(compaction)
  expect((await session.append(compaction)).ids).toEqual(["c"])
  expect(await codeOf(session.append({ ...compaction, summary: "other" }))).toBe("exists")
  expect(await storedIds(location)).toEqual(["a", "b", "c"])
})

test("an id is found before entries that were appended with old timestamps", async () => {
  for (const idAt of [(n: number) => `m${n}`, (n: number) => ulidAt(START - 72 * HOUR, n)]) {
    const { location, session, now } = await coldStart({ lines: 10 })
    for (let n = 0; n < 300; n++) {
      const timestamp = new Date(START - 72 * HOUR + n).toISOString()
      await session.append({ ...user("-".repeat(1_000), idAt(n)), timestamp }, { repeats: "end" })
    }
    await session.append(user("now"))
    const again = await createSessions({ storage: createMemoryStorage({ location }), now }).open("s")
    await again.append(user("pay", ID))
    expect(await countOf(location, ID)).toBe(1)
    expect(await codeOf(again.append(user("other", ID)))).toBe("exists")
  }
})

test("a line has the time of its writing if its entry is more than a day older", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location, { now: () => START })
  const session = await sessions.create({ id: "s" })
  for (const hours of [25, 24, 0]) {
    const timestamp = new Date(START - hours * HOUR).toISOString()
    await session.append({ ...user("hi", `m${hours}`), timestamp })
  }
  const written = new Date(START).toISOString()
  expect((await storedEntries(location)).map(({ writtenAt }) => writtenAt)).toEqual([written, undefined, undefined])
})

test("after a cold start an id is found far back in the log", async () => {
  for (const repeats of [undefined, "log"] as const) {
    const { location, session } = await coldStart({ step: 1 })
    const o = repeats === undefined ? {} : { repeats }
    expect(await codeOf(session.append(user("other", ID), o))).toBe("exists")
    expect(await session.append(user("pay", ID), o)).toMatchObject({ ids: [ID], head: { next: 302 } })
    expect(await countOf(location, ID)).toBe(1)
  }
})

test("large values that moved to blobs are compared by their hash, in memory and in the log", async () => {
  const large = (text: string): NewEntry => user(text.repeat(100), ID)
  for (const lines of [1, 300]) {
    const { session } = await coldStart({ lines, first: large("large"), blobs: { textUnits: 100 }, step: 1 })
    expect((await session.append(large("large"))).ids).toEqual([ID])
    expect(await codeOf(session.append(large("other")))).toBe("exists")
  }
})

test("the log is read back to a day before the time of the id, and what was searched is not read again", async () => {
  const { session, counted, setTime } = await coldStart({ lines: 1_000 })
  const at = (hours: number): string => ulidAt(START + hours * HOUR, 7)
  await session.append(user("now", at(1_000)))
  expect(counted.lines).toBe(0)
  await session.append(user("a week ago", at(1_000 - 7 * 24)))
  const week = counted.lines
  expect(week).toBeGreaterThan(0)
  expect(week).toBeLessThan(500)
  await session.append(user("six days ago", at(1_000 - 6 * 24)))
  expect(counted.lines).toBe(week)
  // A clock that runs ahead does not shorten the search: the newest entry and the server's time limit it.
  setTime(START + 1_100 * HOUR)
  await session.append(user("pay", ID))
  const all = counted.lines
  await session.append(user("other", at(0)))
  expect(counted.lines).toBe(all)
})

test("an id from a clock that runs ahead is found as long as the session has not gone on for a day", async () => {
  const ahead = ulidAt(START + 20 * 24 * HOUR, 1)
  const { location, session } = await coldStart({ first: user("pay", ahead), lines: 300, step: 4 * 60_000 })
  expect((await session.append(user("pay", ahead))).ids).toEqual([ahead])
  expect(await countOf(location, ahead)).toBe(1)
})

test("an id without a time is looked for in the whole log, whose lines are read once", async () => {
  const { location, session, counted } = await coldStart({ first: user("pay", "mine"), lines: 1_000 })
  expect((await session.append(user("pay", "mine"))).ids).toEqual(["mine"])
  expect(await countOf(location, "mine")).toBe(1)
  const read = counted.lines
  expect((await session.append(user("again", "yours"))).ids).toEqual(["yours"])
  expect(counted.lines).toBe(read)
})

test('with `repeats: "end"` nothing is read', async () => {
  const { session, counted } = await coldStart()
  await session.append(user("pay", ID), { repeats: "end" })
  expect(counted.lines).toBe(0)
})

test("appends without ids, and those of a session that is in memory, read nothing", async () => {
  const { session, counted } = await coldStart()
  await session.append([user("one"), user("two")])
  expect(counted.lines).toBe(0)
})

test("an append that waits for a look-up keeps its place before later ones", async () => {
  const { location, session } = await coldStart({ step: 1 })
  await Promise.all([
    session.append(user("a", createIds(() => START)())),
    session.append(user("b", "b"), { repeats: "end" }),
  ])
  expect((await storedIds(location)).at(-1)).toBe("b")
})

test("an entry that another writer has written at once with the same id is taken for ours only if its content is the same", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await two.append([user("same", "a"), user("theirs", "b")])
  const outcome = one.append([user("same", "a"), user("ours", "b")])
  await expect(outcome).rejects.toMatchObject({ code: "exists", message: expect.stringContaining('"b"') })
  expect(await storedIds(location)).toEqual(["0", "a", "b"])
  await two.append(user("same", "c"))
  expect(await one.append(user("same", "c"))).toMatchObject({ ids: ["c"] })
  expect(await countOf(location, "c")).toBe(1)
})

test("a large value that another writer has written at once with the same id is compared by its hash", async () => {
  for (const text of ["large", "other"]) {
    const { location, one, two } = await twoWriters({ blobs: { textUnits: 100 } })
    await two.append(user("large".repeat(100), "a"))
    const outcome = one.append(user(text.repeat(100), "a"))
    expect(
      await outcome.then(
        () => "written",
        (error: { code: string }) => error.code,
      ),
    ).toBe(text === "large" ? "written" : "exists")
    expect(await storedIds(location)).toEqual(["a"])
  }
})

test("a turn that meets its own ids of another writer starts over, and then knows them", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("theirs", "a"))
  const attempts: number[] = []
  const outcome = one.turn(async (turn: Session, { attempt }) => {
    attempts.push(attempt)
    await turn.append(user("ours", "a"))
  })
  expect(await codeOf(outcome)).toBe("exists")
  expect(attempts).toEqual([0, 1])
})
