import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  twoWriters,
  user,
  type Writer,
} from "../../test/writers.ts"
import { createFaultyStorage, type FaultyStorage } from "@sessions/conformance/faults"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"

// The code of following is loaded on first use, which takes time of the machine's clock.
beforeAll(async () => {
  await import("./features/seldom.ts")
})

// Time passes only by `advanceTimersByTimeAsync`; nothing here waits for the machine's clock.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Lets everything run that waits for no timer. */
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

interface Followed extends Writer {
  readonly location: MemoryLocation
  readonly one: Session
  readonly two: Session
}

const WAYS = ["watch", "poll"] as const

/** `one` has a storage that is watched, or one whose head is asked for. */
async function followed(way: (typeof WAYS)[number]): Promise<Followed & { readonly tick: () => Promise<unknown> }> {
  const location = createMemoryLocation()
  const storage = createFaultyStorage(
    createMemoryStorage({ location }),
    way === "poll" ? { capabilities: { watch: false } } : {},
  )
  const sessions = createSessions({ storage })
  const one = await sessions.create({ id: "s" })
  await one.append(user("start", "0"))
  const two = await createWriter(location).sessions.open("s")
  const tick = (): Promise<unknown> => vi.advanceTimersByTimeAsync(way === "poll" ? 2_000 : 0)
  return { location, storage, sessions, one, two, tick }
}

const headsOf = ({ calls }: FaultyStorage): number => calls.filter(({ operation }) => operation === "head").length

/** "pending", "done", or the code that it has rejected with. */
function outcome(promise: Promise<unknown>): () => unknown {
  let is: unknown = "pending"
  promise.then(
    () => (is = "done"),
    (error: { code?: unknown }) => (is = error.code ?? error),
  )
  return () => is
}

test.each(WAYS)("by %s, entries of other writers arrive as `foreign` events until the signal fires", async (way) => {
  const { one, two, tick } = await followed(way)
  const foreign: string[] = []
  one.on("foreign", ({ entries }) => foreign.push(...entries.map(({ id }) => id)))
  await two.append(user("before", "1"))
  const controller = new AbortController()
  const ended = outcome(one.follow({ signal: controller.signal }))
  await settle()
  expect(foreign).toEqual(["1"])
  await two.append([user("a", "a"), assistant("b", "b")])
  await tick()
  await two.append(note("c", "c"))
  await tick()
  expect(foreign).toEqual(["1", "a", "b", "c"])
  expect(one.leafId).toBe("c")
  expect(await contextTexts(one)).toEqual(["start", "before", "a", "b"])
  controller.abort()
  await settle()
  expect(ended()).toBe("done")
  await two.append(user("later", "d"))
  await tick()
  expect(one.leafId).toBe("c")
  expect(vi.getTimerCount()).toBe(0)
})

test.each(WAYS)("by %s, own appends are not read again", async (way) => {
  const { one, storage, tick } = await followed(way)
  void one.follow()
  await tick()
  const reads = (): number => storage.calls.filter(({ operation }) => operation === "read").length
  const before = reads()
  for (let n = 0; n < 3; n++) {
    await one.append(user(`own ${n}`))
    await tick()
  }
  expect(reads()).toBe(before)
  await one.close()
})

test("without a watch the head is asked for every 2 s, and nothing else", async () => {
  const { one, storage } = await followed("poll")
  void one.follow()
  await settle()
  const before = storage.calls.length
  await vi.advanceTimersByTimeAsync(20_000)
  expect(storage.calls.slice(before).map(({ operation }) => operation)).toEqual(
    Array.from({ length: 10 }, () => "head"),
  )
  await one.close()
})

test.each(WAYS)("by %s, another branch is reported as after an append", async (way) => {
  const { one, two, tick } = await followed(way)
  const seen: string[] = []
  one.on("diverged", ({ otherLeaf }) => seen.push(otherLeaf))
  await one.append(user("one", "a"))
  void one.follow()
  await settle()
  await two.append(user("two", "b"))
  await tick()
  expect(seen).toEqual(["b"])
  expect(one.diagnostics).toMatchObject([{ code: "diverged", leaf: "a", otherLeaf: "b" }])
  expect(one.leafId).toBe("a")
  await one.close()
})

test.each(["the signal has fired before", "the handle is closed", "the repository is closed"])(
  "it resolves if %s, and leaves no timer and no watch",
  async (why) => {
    for (const way of WAYS) {
      const { one, sessions, location } = await followed(way)
      const other = await sessions.open("s")
      const stays = outcome(other.follow())
      const ended = outcome(one.follow(why.startsWith("the signal") ? { signal: AbortSignal.abort() } : {}))
      await settle()
      if (why === "the handle is closed") await one.close()
      if (why === "the repository is closed") await sessions.close()
      await settle()
      expect(ended()).toBe("done")
      expect(stays()).toBe(why === "the repository is closed" ? "done" : "pending")
      await other.close()
      await settle()
      expect(stays()).toBe("done")
      expect(vi.getTimerCount()).toBe(0)
      expect(location.watchers.get("s")?.size ?? 0).toBe(0)
    }
  },
)

test("a closed handle rejects with `closed`", async () => {
  const { one } = await followed("watch")
  await one.close()
  expect(await codeOf(one.follow())).toBe("closed")
})

test("calls on one session share one watch, which ends with the last of them", async () => {
  const { one, sessions, two, location } = await followed("watch")
  const other = await sessions.open("s")
  const controllers = [new AbortController(), new AbortController(), new AbortController()]
  const ends = controllers.map(({ signal }, n) => outcome((n === 0 ? other : one).follow({ signal })))
  await settle()
  expect(location.watchers.get("s")?.size).toBe(1)
  for (const controller of controllers.slice(0, 2)) controller.abort()
  await settle()
  expect(ends.map((end) => end())).toEqual(["done", "done", "pending"])
  await two.append(user("a", "a"))
  await settle()
  expect(one.leafId).toBe("a")
  controllers[2]?.abort()
  await settle()
  expect(location.watchers.get("s")?.size ?? 0).toBe(0)
  // It can be followed again.
  const again = outcome(one.follow())
  await two.append(user("b", "b"))
  await settle()
  expect(one.leafId).toBe("b")
  expect(again()).toBe("pending")
  await one.close()
})

test.each(WAYS)("by %s, a session that is deleted ends every call with `not_found`", async (way) => {
  const { one, sessions, location, tick } = await followed(way)
  const ends = [outcome(one.follow()), outcome((await sessions.open("s")).follow())]
  await settle()
  await createWriter(location).sessions.delete("s")
  await tick()
  await tick()
  expect(ends.map((end) => end())).toEqual(["not_found", "not_found"])
  expect(vi.getTimerCount()).toBe(0)
})

test.each(WAYS)("by %s, a log that was replaced is followed on", async (way) => {
  const { one, two, location, tick } = await followed(way)
  const ended = outcome(one.follow())
  await settle()
  const storage = createMemoryStorage({ location })
  const lines = [...(location.logs.get("s")?.lines ?? [])]
  const { next, log } = (await storage.head("s")) ?? { next: 0, log: "" }
  const chunks = async function* () {
    yield { from: 0, lines }
  }
  await storage.replace?.("s", chunks(), { expect: { next, log } })
  await tick()
  await two.append(user("a", "a"))
  await tick()
  expect(one.leafId).toBe("a")
  expect(ended()).toBe("pending")
  await one.close()
})

test("damage ends it with `corrupt`", async () => {
  const { one, two, storage } = await followed("watch")
  const ended = outcome(one.follow())
  await settle()
  storage.fail("read", "corrupt")
  await two.append(user("a", "a"))
  await settle()
  expect(ended()).toBe("corrupt")
  await one.append(user("on"))
})

test("a storage that does not answer is asked again, at most every 30 s, with one diagnostic until it answers", async () => {
  const { one, two, storage } = await followed("poll")
  const told: string[] = []
  one.on("diagnostic", ({ code, message }) => told.push(`${code}: ${message}`))
  const ended = outcome(one.follow())
  await settle()
  let isAway = true
  const away = (): "unavailable" | undefined => (isAway ? "unavailable" : undefined)
  storage.fail("head", ...Array.from({ length: 30 }, () => away))
  const asked: number[] = []
  let known = headsOf(storage)
  for (let second = 1; second <= 126; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    if (headsOf(storage) > known) asked.push(second)
    known = headsOf(storage)
  }
  expect(asked).toEqual([2, 4, 8, 16, 32, 62, 92, 122])
  expect(told).toEqual([
    expect.stringMatching(/^not_followed: .*does not arrive until the storage answers again.*unavailable/),
  ])
  expect(one.diagnostics.map(({ code }) => code)).toEqual(["not_followed"])
  isAway = false
  await two.append(user("a", "a"))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(one.leafId).toBe("a")
  expect(one.diagnostics).toEqual([])
  await two.append(user("b", "b"))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(one.leafId).toBe("b")
  expect(ended()).toBe("pending")
  await one.close()
})

test("a watch that fails is started again", async () => {
  const { one, two, storage, location } = await followed("watch")
  void one.follow()
  await settle()
  storage.fail("read", "unavailable", "unavailable", "unavailable")
  await two.append(user("a", "a"))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(one.diagnostics.map(({ code }) => code)).toEqual(["not_followed"])
  expect(one.leafId).toBe("0")
  await vi.advanceTimersByTimeAsync(2_000)
  expect(one.leafId).toBe("a")
  expect(one.diagnostics).toEqual([])
  expect(location.watchers.get("s")?.size).toBe(1)
  await one.close()
})

test("the diagnostic ends with the call", async () => {
  const { one, storage } = await followed("poll")
  storage.fail("head", "unavailable")
  const controller = new AbortController()
  void one.follow({ signal: controller.signal })
  await settle()
  expect(one.diagnostics.map(({ code }) => code)).toEqual(["not_followed"])
  controller.abort()
  await settle()
  expect(one.diagnostics).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test("a turn that another writer's message reaches after its last append ends on that message", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  void one.follow()
  void two.follow()
  await one.turn(async (turn) => {
    await turn.append([user("question", "q"), assistant("answer", "a")])
    await settle()
    expect(two.leafId).toBe("a")
    await two.append(user("next", "n"))
    await settle()
    expect(turn.leafId).toBe("a")
  })
  expect(one.leafId).toBe("n")
  await Promise.all([one.close(), two.close()])
})
