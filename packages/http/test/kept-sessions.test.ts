/** Sessions that a server keeps open between requests. */
import { createSessions, type Session } from "@sessions/core"
import { textOf } from "@sessions/core/format"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { type KeepOptions, keepSessions } from "../src/server.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const said = (text: string) => ({ type: "message", message: { role: "user", content: text } }) as const

async function start(o?: KeepOptions) {
  const location = createMemoryLocation()
  const inner = createMemoryStorage({ location })
  let reads = 0
  const storage: SessionStorage = {
    ...inner,
    read(id, range, o) {
      // Taking over what others wrote reads from the last known line on.
      if (((range as { from?: number }).from ?? 0) === 0) reads++
      return inner.read(id, range, o)
    },
  }
  const elsewhere = createSessions({ storage: createMemoryStorage({ location }) })
  for (const id of ["a", "b", "c"]) await (await elsewhere.create({ id, entries: [said("start")] })).close()
  const kept = keepSessions(createSessions({ storage }), o)
  const use = async (id: string, act: (session: Session) => unknown = () => undefined): Promise<unknown> => {
    const session = await kept.open(id)
    try {
      return await act(session)
    } finally {
      await session.close()
    }
  }
  /** Whether opening it reads its log. */
  const isLoaded = async (id: string): Promise<boolean> => {
    const before = reads
    await use(id)
    return reads > before
  }
  return { location, elsewhere, kept, use, isLoaded }
}

test("a session is read once, however often it is opened, and has what other writers appended", async () => {
  const { elsewhere, use, isLoaded } = await start()
  await use("a", (session) => session.append(said("one")))
  expect(await isLoaded("a")).toBe(false)
  const other = await elsewhere.open("a")
  await other.append(said("two"))
  expect(await use("a", async (session) => (await session.messages()).messages.length)).toBe(3)
})

test("a session leaves after it was idle, by name, and when there are too many, the least recently used first", async () => {
  const { kept, use, isLoaded } = await start({ idle: 1_000, most: 2 })
  await use("a")
  await vi.advanceTimersByTimeAsync(999)
  expect(await isLoaded("a")).toBe(false)
  await vi.advanceTimersByTimeAsync(1_001)
  expect(await isLoaded("a")).toBe(true)
  expect(await kept.release("a")).toBe(true)
  expect(await kept.release("a")).toBe(false)
  for (const id of ["a", "b", "a", "c"]) await use(id)
  expect(await isLoaded("a")).toBe(false)
  expect(await isLoaded("b")).toBe(true)
  await kept.close()
  expect(vi.getTimerCount()).toBe(0)
  expect(await isLoaded("b")).toBe(true)
})

test("a session that is in use stays, and its caller's handle goes on", async () => {
  const { kept, isLoaded } = await start({ idle: 1_000 })
  const session = await kept.open("a")
  await vi.advanceTimersByTimeAsync(2_000)
  await session.append(said("still there"))
  await kept.release("a")
  await session.append(said("and now"))
  expect(await isLoaded("a")).toBe(false)
  await session.close()
})

test("a session that was deleted elsewhere is `not_found`, and one that was created again is that one", async () => {
  const { elsewhere, kept, use } = await start()
  await use("a")
  await elsewhere.delete("a")
  await expect(kept.open("a")).rejects.toMatchObject({ code: "not_found" })
  await use("b")
  await elsewhere.delete("b")
  await (await elsewhere.create({ id: "b", title: "another" })).close()
  expect(await use("b", (session) => session.header.title)).toBe("another")
  await expect(kept.open("none")).rejects.toMatchObject({ code: "not_found" })
})

test("a session whose log lost lines, as by an older copy that was put back, is opened as the log is", async () => {
  const { location, use } = await start()
  const log = location.logs.get("a")
  const copy = log && { ...log, lines: [...log.lines] }
  await use("a", (session) => session.append(said("lost")))
  if (copy !== undefined) location.logs.set("a", copy)
  const other = await createSessions({ storage: createMemoryStorage({ location }) }).open("a")
  await other.append(said("instead"))
  const texts = await use("a", async (session) =>
    (await session.messages()).messages.map(({ message }) => textOf(message)),
  )
  expect(texts).toEqual(["start", "instead"])
})

test("wrong options are `invalid`", () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const o of [{ idle: 0 }, { most: Number.NaN }, { ideal: 1 }])
    expect(() => keepSessions(sessions, o), JSON.stringify(o)).toThrow(expect.objectContaining({ code: "invalid" }))
})
