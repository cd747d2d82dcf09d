import { type Call, createFaultyStorage, type Fault, type FaultyStorage } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, expect, test, vi } from "vitest"
import { assistant, codeOf, contextTexts, user } from "../../test/writers.ts"
import type { Head, SessionStorage } from "../storage/contract.ts"
import type { ReleaseReason } from "./hooks.ts"
import { createSessions } from "./repository.ts"
import type { CacheOptions, Sessions } from "./repository-types.ts"

afterEach(() => vi.useRealTimers())

interface Cached {
  readonly sessions: Sessions
  /** Another writer on the same storage. */
  readonly elsewhere: Sessions
  readonly storage: SessionStorage
  /** Calls of the storage by `sessions` since the last call. */
  readonly take: () => string[]
  readonly released: { readonly session: string; readonly why: ReleaseReason }[]
}

function cached(cache: CacheOptions = {}, wrap = (storage: SessionStorage): SessionStorage => storage): Cached {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const calls: string[] = []
  const inner = wrap(createMemoryStorage({ location }))
  const counting: SessionStorage = {
    ...inner,
    head: (id, o) => (calls.push("head"), inner.head(id, o)),
    read: (id, range, o) => (calls.push("read"), inner.read(id, range, o)),
    append: (id, lines, o) => (calls.push("append"), inner.append(id, lines, o)),
    sync: async (id, o) => (calls.push("sync"), inner.sync?.(id, o)),
    docs: { ...inner.docs, get: (key, o) => (calls.push("docs.get"), inner.docs.get(key, o)) },
  }
  const released: Cached["released"] = []
  return {
    sessions: createSessions({ storage: counting, cache, hooks: { release: (one) => released.push(one) } }),
    elsewhere: createSessions({ storage }),
    storage,
    take: () => calls.splice(0),
    released,
  }
}

async function made({ sessions, take }: Cached, id = "s"): Promise<void> {
  const session = await sessions.create({ id })
  await session.append([user("question"), assistant("answer")])
  await session.close()
  take()
}

test("reuse of a kept session costs one head", async () => {
  const world = cached()
  await made(world)
  const session = await world.sessions.open("s")
  expect(await contextTexts(session)).toEqual(["question", "answer"])
  await session.close()
  expect(world.take()).toEqual(["head"])
  const [one, other] = await Promise.all([world.sessions.open("s"), world.sessions.open("s")])
  expect(world.take()).toEqual(["head"])
  await Promise.all([one?.close(), other?.close()])
  expect(world.released).toEqual([])
})

test("without the option no session is kept", async () => {
  const { sessions, storage } = cached()
  const plain = createSessions({ storage })
  await (await sessions.create({ id: "s" })).close()
  const session = await plain.open("s")
  await session.close()
  expect(await plain.release("s")).toBe(true)
  expect(await plain.releaseAll()).toBe(0)
})

test("of 1,000 sessions the 100 that were used last are kept", async () => {
  const world = cached({ sessions: 100 })
  for (let n = 0; n < 1_000; n++) await made(world, `s${n}`)
  // Used again, so it is not the oldest any more.
  await (await world.sessions.open("s900")).close()
  await made(world, "s1000")
  expect(world.released).toHaveLength(901)
  expect(world.released.every(({ why }) => why === "limit")).toBe(true)
  expect(world.released.at(-1)).toEqual({ session: "s901", why: "limit" })
  for (const id of ["s900", "s902", "s1000"]) {
    await (await world.sessions.open(id)).close()
    expect(world.take()).toEqual(["head"])
  }
  await (await world.sessions.open("s901")).close()
  expect(world.take()).toContain("read")
  expect(await world.sessions.releaseAll()).toBe(100)
})

test("a session leaves when it was idle for long enough, with one timer for all", async () => {
  vi.useFakeTimers()
  const world = cached({ idle: 1_000 })
  await made(world, "a")
  await vi.advanceTimersByTimeAsync(600)
  await made(world, "b")
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(399)
  expect(world.released).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(world.released).toEqual([{ session: "a", why: "idle" }])
  await (await world.sessions.open("b")).close()
  await vi.advanceTimersByTimeAsync(999)
  expect(world.released).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(world.released.at(-1)).toEqual({ session: "b", why: "idle" })
  expect(vi.getTimerCount()).toBe(0)
})

test("a session that is open is not idle, however long it is used", async () => {
  vi.useFakeTimers()
  const world = cached({ idle: 1_000 })
  await made(world)
  const session = await world.sessions.open("s")
  await vi.advanceTimersByTimeAsync(5_000)
  expect(world.released).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  await session.close()
  expect(vi.getTimerCount()).toBe(1)
  await world.sessions.close()
  expect(vi.getTimerCount()).toBe(0)
})

test("a clock that is set back does not keep a session for longer", async () => {
  vi.useFakeTimers()
  const world = cached({ idle: 1_000 })
  await made(world)
  vi.setSystemTime(Date.now() - 86_400_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(world.released).toEqual([{ session: "s", why: "idle" }])
})

test("a handle, with or without a listener, keeps its session from every release", async () => {
  vi.useFakeTimers()
  const world = cached({ idle: 1_000, sessions: 1 })
  await made(world, "used")
  const session = await world.sessions.open("used")
  const heard: number[] = []
  session.on("appended", ({ entries }) => heard.push(entries.length))
  for (let n = 0; n < 3; n++) await made(world, `s${n}`)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await world.sessions.release("used")).toBe(false)
  await world.sessions.releaseAll()
  expect(world.released.map(({ session: id }) => id)).not.toContain("used")
  const other = await world.sessions.open("used")
  await other.append(user("more"))
  expect(heard).toEqual([1])
  await Promise.all([session.close(), other.close()])
})

test("a turn keeps its session although its handle was closed", async () => {
  const world = cached({ sessions: 1 })
  await made(world)
  const session = await world.sessions.open("s")
  let end = (): void => undefined
  const turn = session.turn(() => new Promise<void>((resolve) => (end = resolve)))
  await session.close()
  expect(await world.sessions.release("s")).toBe(false)
  await made(world, "a")
  await made(world, "b")
  expect(world.released).toEqual([{ session: "a", why: "limit" }])
  end()
  await turn
  expect(await world.sessions.release("s")).toBe(true)
})

test("nothing with unwritten appends is ever released", async () => {
  vi.useFakeTimers()
  let isDown = false
  const decide = ({ operation }: Call): Fault | undefined => {
    if (!isDown) return undefined
    return operation === "append" ? "request lost" : "unavailable"
  }
  const world = cached({ idle: 1_000, sessions: 1 }, (storage) => createFaultyStorage(storage, { decide }))
  await made(world)
  const session = await world.sessions.open("s")
  isDown = true
  const appended = codeOf(session.append(user("in doubt", "doubt")))
  const closed = codeOf(session.close())
  await vi.advanceTimersByTimeAsync(900)
  expect([await appended, await closed]).toEqual(["indeterminate", "indeterminate"])
  const released = world.sessions.release("s")
  const all = world.sessions.releaseAll()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([await released, await all]).toEqual([false, 0])
  expect(world.released).toEqual([])
  // The storage answers again: the next look at idle sessions writes the append, and the one after it releases the session.
  isDown = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(world.released).toEqual([])
  const seen = await world.elsewhere.open("s")
  expect((await seen.entry("doubt"))?.id).toBe("doubt")
  await vi.advanceTimersByTimeAsync(1_000)
  expect(world.released).toEqual([{ session: "s", why: "idle" }])
})

test("a session with an append in doubt is shared when it is opened again, and closing the repository writes it", async () => {
  vi.useFakeTimers()
  let isDown = false
  const decide = ({ operation }: Call): Fault | undefined => {
    if (!isDown) return undefined
    return operation === "append" ? "request lost" : "unavailable"
  }
  const world = cached({ sessions: 1 }, (storage) => createFaultyStorage(storage, { decide }))
  await made(world)
  const session = await world.sessions.open("s")
  isDown = true
  const appended = codeOf(session.append(user("in doubt", "doubt")))
  const closed = codeOf(session.close())
  await vi.advanceTimersByTimeAsync(900)
  expect([await appended, await closed]).toEqual(["indeterminate", "indeterminate"])
  isDown = false
  const again = await world.sessions.open("s")
  expect(again.leafId).toBe("doubt")
  await again.close()
  await world.sessions.close()
  const seen = await world.elsewhere.open("s")
  expect((await seen.entry("doubt"))?.id).toBe("doubt")
  expect(world.released).toEqual([{ session: "s", why: "closed" }])
})

test("lines of other writers are read on reuse, and nothing else", async () => {
  const world = cached()
  await made(world)
  const other = await world.elsewhere.open("s")
  await other.append(user("from elsewhere"))
  const session = await world.sessions.open("s")
  expect(world.take()).toEqual(["head", "read"])
  expect(await contextTexts(session)).toEqual(["question", "answer", "from elsewhere"])
  expect(world.take()).toEqual([])
  expect(session.leafId).toBe(other.leafId)
  await session.close()
})

test("a session is opened at the leaf of its log, not at the one where its last handle was", async () => {
  const world = cached()
  await made(world)
  const session = await world.sessions.open("s")
  const other = await world.elsewhere.open("s")
  await other.append(user("from elsewhere"))
  const { diverged } = await session.append(user("from here"))
  expect(diverged).toBeDefined()
  await other.append(assistant("the last line"))
  await session.close()
  const again = await world.sessions.open("s")
  const anew = await world.elsewhere.open("s")
  expect(again.leafId).toBe(other.leafId)
  expect(again.diagnostics).toEqual(anew.diagnostics.map((one) => ({ ...one, leaf: again.leafId })))
  await again.close()
})

test("a log that was replaced is loaded anew, one that was deleted is not_found", async () => {
  const world = cached()
  await made(world)
  await world.elsewhere.delete("s")
  const next = await world.elsewhere.create({ id: "s" })
  await next.append(user("another session"))
  const session = await world.sessions.open("s")
  expect(await contextTexts(session)).toEqual(["another session"])
  await session.close()
  await world.elsewhere.delete("s")
  expect(await codeOf(world.sessions.open("s"))).toBe("not_found")
  expect(await codeOf(world.sessions.open("s"))).toBe("not_found")
  expect(world.released).toEqual([
    { session: "s", why: "replaced" },
    { session: "s", why: "deleted" },
  ])
})

test("the id of a kept session is taken, unless it was deleted elsewhere", async () => {
  const world = cached()
  await made(world)
  expect(await codeOf(world.sessions.create({ id: "s" }))).toBe("exists")
  await world.elsewhere.delete("s")
  const session = await world.sessions.create({ id: "s" })
  expect(await contextTexts(session)).toEqual([])
  expect(world.released).toEqual([{ session: "s", why: "deleted" }])
  await session.close()
})

test("an error of the storage while a kept session is asked for is the caller's, and the session is still kept", async () => {
  let fault: Fault | undefined
  const world = cached({}, (storage) => createFaultyStorage(storage, { decide: () => fault }))
  await made(world)
  fault = "corrupt"
  expect(await codeOf(world.sessions.open("s"))).toBe("corrupt")
  fault = undefined
  world.take()
  await (await world.sessions.open("s")).close()
  expect(world.take()).toEqual(["head"])
})

test("a caller who gives up while a kept session is asked for leaves it kept", async () => {
  const faulty: { hold?: FaultyStorage } = {}
  const world = cached({}, (storage) => (faulty.hold = createFaultyStorage(storage)))
  await made(world)
  const release = faulty.hold?.hold("head")
  const impatient = new AbortController()
  const opening = codeOf(world.sessions.open("s", { signal: impatient.signal }))
  impatient.abort()
  expect(await opening).toBe("aborted")
  expect(await world.sessions.release("s")).toBe(false)
  release?.()
  await (await world.sessions.open("s")).close()
  expect(world.released).toEqual([])
  expect(await world.sessions.release("s")).toBe(true)
})

test("`release`, `delete` and `close` drop a kept session, with the hook's reason", async () => {
  const world = cached()
  for (const id of ["a", "b", "c"]) await made(world, id)
  const session = await world.sessions.open("a")
  expect(await world.sessions.release("a")).toBe(false)
  await session.close()
  expect(await world.sessions.release("a")).toBe(true)
  expect(await world.sessions.release("a")).toBe(true)
  await world.sessions.delete("b")
  await world.sessions.close()
  expect(world.released).toEqual([
    { session: "a", why: "released" },
    { session: "b", why: "deleted" },
    { session: "c", why: "closed" },
  ])
  expect(await codeOf(world.sessions.release("a"))).toBe("closed")
  expect(await codeOf(world.sessions.releaseAll())).toBe("closed")
})

test("without the option the hook `release` runs when the last handle was closed", async () => {
  const released: unknown[] = []
  const release = (one: unknown): void => void released.push(one)
  const sessions = createSessions({ storage: createMemoryStorage(), hooks: { release } })
  const session = await sessions.create({ id: "s" })
  const other = await sessions.open("s")
  await session.close()
  expect(released).toEqual([])
  await other.close()
  expect(released).toEqual([{ session: "s", why: "closed" }])
})

test("a session that is damaged, not stored yet or of an older version is not kept", async () => {
  const world = cached()
  await made(world, "damaged")
  await (await world.sessions.open("damaged")).close()
  const { next, log } = (await world.storage.head("damaged")) as Head
  await world.storage.append("damaged", ["no record"], { expect: { next, log } })
  const damaged = await world.sessions.open("damaged")
  expect(damaged.diagnostics.map(({ code }) => code)).toEqual(["unparsable_line"])
  await damaged.close()
  expect(world.released).toEqual([
    { session: "damaged", why: "replaced" },
    { session: "damaged", why: "closed" },
  ])
})

test("a merge of a kept session with another storage keeps it until it has ended", async () => {
  const world = cached({ sessions: 1 })
  await made(world)
  const there = createMemoryStorage()
  await world.sessions.merge("s", there)
  const elsewhere = createSessions({ storage: there })
  await (await elsewhere.open("s")).append(user("there"))
  expect(await world.sessions.merge("s", there)).toMatchObject({ received: 1 })
  const session = await world.sessions.open("s")
  expect(await contextTexts(session)).toEqual(["question", "answer", "there"])
  await session.close()
})

test("the timer does not keep a process running", async () => {
  // A clock that stands still, so that the whole of the idle time is left when the timer is set.
  vi.useFakeTimers({ toFake: ["Date"] })
  const timers: unknown[] = []
  const real = globalThis.setTimeout
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation((...args: Parameters<typeof real>) => {
    const timer = real(...args)
    if (args[1] === 1_800_000) timers.push(timer)
    return timer
  })
  const world = cached()
  await made(world)
  spy.mockRestore()
  expect(timers.map((timer) => (timer as { hasRef(): boolean }).hasRef())).toEqual([false])
  await world.sessions.close()
})

test("wrong options are invalid", () => {
  const storage = createMemoryStorage()
  for (const cache of [{ idle: 0 }, { sessions: 0 }, { idle: "1h" }, { ttl: 5 }, true]) {
    expect(() => createSessions({ storage, cache: cache as CacheOptions })).toThrow(/cache/)
  }
})
