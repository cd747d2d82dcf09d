import type { MemoryLocation } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../test/compacting.ts"
import { assistant, contextTexts, storedIds, twoWriters, user } from "../../test/writers.ts"
import { autoCompact, automaticCompaction, compact } from "../compaction/index.ts"
import type { SessionError } from "../format/errors.ts"
import type { Hooks } from "./hooks.ts"
import type { Session } from "./types.ts"

/** Returns a function that puts the present log back in its place. */
function backup(location: MemoryLocation): () => void {
  const log = location.logs.get("s")
  if (log === undefined) throw new Error("There is no log.")
  const lines = [...log.lines]
  return () => void location.logs.set("s", { ...log, lines: [...lines] })
}

/** The code of a call's error, and the ids that it names as lost. */
async function refused(call: Promise<unknown>): Promise<readonly unknown[]> {
  return call.then(
    () => ["resolved"],
    ({ code, lost }: SessionError) => [code, lost?.map(({ id }) => id)],
  )
}

const LOST = ["conflict", ["b", "c"]]

/** Two handles of one repository on a session that has lost `b` and `c`, of which the first handle knows. */
async function twoHandles(): Promise<{ readonly location: MemoryLocation; readonly other: Session }> {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  expect(await refused(one.append(user("d", "d")))).toEqual(LOST)
  await one.append(user("e", "e"))
  return { location, other }
}

const CALLS: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  append: (session) => session.append(user("f", "f")),
  "append with a place": (session) => session.append(user("f", "f"), { at: "a" }),
  branch: (session) => session.branch("a"),
  resetLeaf: (session) => session.resetLeaf(),
  settle: (session) => session.settle(["a"]),
  label: (session) => session.label("a", "f"),
  edit: (session) => session.edit("a", { content: "f" }),
  tombstone: (session) => session.tombstone("a"),
  title: (session) => session.title("f"),
  metadata: (session) => session.metadata("f", 1),
  refresh: (session) => session.refresh(),
  follow: (session) => session.follow(),
  turn: (session) => session.turn(() => Promise.reject(new Error("The function ran."))),
  "turn with a lease": (session) =>
    session.turn(() => Promise.reject(new Error("The function ran.")), { lease: 5_000 }),
}

test.each(Object.entries(CALLS))(
  "each handle learns of a loss once, which another one has met: by %s",
  async (_, call) => {
    const { location, other } = await twoHandles()
    expect(await refused(call(other))).toEqual(LOST)
    const ids = (await storedIds(location)).slice(0, 2)
    await other.append(user("g", "g"))
    expect([ids, (await storedIds(location)).at(-1)]).toEqual([["a", "e"], "g"])
  },
)

const NAMING: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  "append with a place": (session) => session.append(user("f", "f"), { at: "b" }),
  branch: (session) => session.branch("b"),
  settle: (session) => session.settle(["b"]),
  label: (session) => session.label("b", "f"),
  edit: (session) => session.edit("b", { content: "f" }),
  tombstone: (session) => session.tombstone("b"),
}

test.each(Object.entries(NAMING))(
  "`%s` of an entry that is gone tells the loss before it says that there is no such entry",
  async (_, call) => {
    const { other } = await twoHandles()
    expect([await refused(call(other)), await refused(call(other))]).toEqual([LOST, ["not_found", undefined]])
  },
)

test("several losses are told one after the other", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  for (const id of ["b", "c"]) {
    await one.append(user(id, id))
    restore()
    expect(await refused(one.refresh())).toEqual(["conflict", [id]])
  }
  const told = [await refused(other.refresh()), await refused(other.append(user("d", "d")))]
  expect(told).toEqual([
    ["conflict", ["b"]],
    ["conflict", ["c"]],
  ])
  await other.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "d"])
})

test("a handle that is opened after a loss goes on from the log as it is", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const restore = backup(location)
  await one.append(user("b", "b"))
  restore()
  await refused(one.refresh())
  const later = await writerOne.sessions.open("s")
  await later.append(user("c", "c"))
  expect(await contextTexts(later)).toEqual(["start", "c"])
})

test("a `follow` that runs ends with a loss that another handle has met", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  const following = refused(other.follow())
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  expect(await refused(one.append(user("d", "d")))).toEqual(LOST)
  expect(await Promise.race([following, refused(one.refresh())])).toEqual(LOST)
  await other.append(user("e", "e"))
  expect(await storedIds(location)).toEqual(["a", "e"])
})

test("an append that waits for its hook while another one meets a loss is refused with it", async () => {
  let goOn = (): void => undefined
  const gate = new Promise<void>((resolve) => (goOn = resolve))
  let isWaiting = false
  const hook: Hooks = {
    async append({ id }) {
      if (id !== "d") return
      isWaiting = true
      await gate
    },
  }
  const { location, one, writerOne } = await twoWriters({ hooks: [hook] }, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  const waiting = refused(other.append(user("d", "d")))
  expect([await refused(one.refresh()), isWaiting]).toEqual([LOST, true])
  goOn()
  expect(await waiting).toEqual(LOST)
  await other.append(user("e", "e"))
  expect(await storedIds(location)).toEqual(["a", "e"])
})

test("an append that a listener makes when it is told of others' entries is refused with the loss that is found with them", async () => {
  const { location, one, two, writerOne } = await twoWriters({}, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  await two.append(user("x", "x"))
  let appended: Promise<readonly unknown[]> | undefined
  other.on("foreign", () => {
    appended ??= refused(other.append(user("f", "f")))
  })
  expect(await refused(one.refresh())).toEqual(LOST)
  expect(await appended).toEqual(LOST)
  expect(await storedIds(location)).toEqual(["a", "x"])
})

test("a refresh that waits behind an append that meets a loss is refused with it", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const other = await writerOne.sessions.open("s")
  const restore = backup(location)
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  const release = writerOne.storage.hold("append")
  const append = refused(one.append(user("d")))
  await vi.waitFor(() => expect(writerOne.storage.calls.at(-1)?.operation).toBe("append"))
  const refresh = refused(other.refresh())
  release()
  expect(await Promise.all([append, refresh])).toEqual([LOST, LOST])
  expect(await Promise.all([one, other].map((handle) => refused(handle.refresh())))).toEqual([
    ["resolved"],
    ["resolved"],
  ])
})

const compaction = automaticCompaction({
  contextWindow: 2_000,
  thresholdTokens: 1_500,
  keepRecentTokens: 0,
  summarize: async () => SUMMARY,
})
const TALK = [user(FILLER, "b"), assistant(FILLER, "c")]

test("a loss that the compaction before a turn meets is told before the turn's function runs", async () => {
  const { session, location } = await startCompacting({ compaction })
  await session.append(user("start", "a"))
  const restore = backup(location)
  await session.append(TALK)
  restore()
  let ran = 0
  const turn = session.turn(() => ran++)
  expect([await refused(turn), ran]).toEqual([LOST, 0])
  expect(await session.turn(() => ++ran)).toBe(1)
})

test("a loss that the compaction after a turn meets is told by the turn, whose lines are gone", async () => {
  const { session, location } = await startCompacting({ compaction })
  await session.append(user("start", "a"))
  const restore = backup(location)
  const turn = session.turn(async (inner) => {
    await inner.append(TALK)
    restore()
    return "answer"
  })
  expect(await refused(turn)).toEqual(LOST)
  await session.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "d"])
})

test("a loss is told by the next append after `autoCompact`, and by `compact` itself", async () => {
  const { session, location } = await startCompacting({ compaction })
  await session.append(user("start", "a"))
  const restore = backup(location)
  await session.append(TALK)
  restore()
  expect(await autoCompact(session)).toBeUndefined()
  expect(await refused(session.append(user("d", "d")))).toEqual(LOST)
  await session.append(TALK)
  restore()
  expect(await refused(compact(session))).toEqual(LOST)
  await session.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "d"])
})
