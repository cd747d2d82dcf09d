import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { user } from "../../test/writers.ts"
import type { Capabilities } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import type { ListOptions, Sessions } from "./repository-types.ts"

const ORDERS = ["updatedAt", "id"] as const
const LIMIT = 10

test.each(ORDERS)(
  "all pages together list the storage a few times, not once for each page: order by %s",
  async (listOrder) => {
    const rows = async (count: number): Promise<number> => {
      const { sessions, storage } = await storeWith(count, { listOrder })
      storage.take()
      expect(await idsOf(sessions)).toEqual(newestFirst(count))
      return storage.take().rows / count
    }
    // A list in the order of ids reads all rows each time: twice, and once each time that twice as far is read.
    expect(await rows(400)).toBeLessThan(listOrder === "id" ? 7 : 4)
    expect(await rows(100)).toBeLessThan(listOrder === "id" ? 5 : 4)
  },
)

test("a page that takes a new reading of the list asks for no head, and the next one for those of its own sessions", async () => {
  const { sessions, storage } = await storeWith(100)
  const cursor = await cursorOf(sessions, 2)
  storage.take()
  const third = await sessions.list({ limit: LIMIT, cursor })
  expect(third.sessions.map(({ id }) => id)).toEqual(newestFirst(100).slice(2 * LIMIT, 3 * LIMIT))
  expect(storage.take().heads).toBe(0)
  const fourth = await sessions.list({ limit: LIMIT, cursor: third.next as string })
  expect(fourth.sessions.map(({ id }) => id)).toEqual(newestFirst(100).slice(3 * LIMIT, 4 * LIMIT))
  expect(storage.take()).toMatchObject({ heads: LIMIT + 1, rows: 0 })
})

test("the pages behind the second one have each session once that is there, as it is now, whatever happens to the sessions meanwhile", async () => {
  const { sessions, clock } = await storeWith(100)
  const shown: string[] = []
  let page = await sessions.list({ limit: LIMIT })
  for (let at = 1; ; at++) {
    shown.push(...page.sessions.map(({ id }) => id))
    if (page.next === undefined) break
    clock.now += 1
    if (at === 3) {
      await sessions.delete("s065")
      await sessions.rename("s064", "named")
      await (await sessions.open("s063")).append(user("again"))
      await sessions.create()
    }
    page = await sessions.list({ limit: LIMIT, cursor: page.next })
    if (at === 3) expect(page.sessions.find(({ id }) => id === "s064")?.title).toBe("named")
    if (at === 3) expect(page.sessions.find(({ id }) => id === "s063")?.messageCount).toBe(2)
    if (page.next !== undefined) expect(page.sessions).toHaveLength(LIMIT)
  }
  expect(shown).toEqual(newestFirst(100).filter((id) => id !== "s065"))
})

test("a session that comes to have a place behind the cursor is on the pages of the next listing, and of this one after a minute", async () => {
  const { sessions, clock } = await storeWith(50)
  const third = await cursorOf(sessions, 3)
  const old = { ...user("old"), timestamp: new Date(clock.now - 999_999_999).toISOString() }
  await sessions.create({ id: "imported", entries: [old] })
  clock.now += 59_999
  expect(await idsOf(sessions, {}, third)).toEqual(newestFirst(20))
  clock.now += 1
  expect(await idsOf(sessions, {}, third)).toEqual([...newestFirst(20), "imported"])
  expect(await idsOf(sessions)).toEqual([...newestFirst(50), "imported"])
})

test("a listing shows no session twice that moved up after a reading of a listing before", async () => {
  const { sessions, clock } = await storeWith(50)
  await sessions.list({ limit: LIMIT, cursor: await cursorOf(sessions, 3) })
  clock.now += 1
  await (await sessions.open("s005")).append(user("again"))
  expect(await idsOf(sessions, { limit: 25 })).toEqual(["s005", ...newestFirst(50).filter((id) => id !== "s005")])
})

test("a page leaves out what does not match any more, is full, and an earlier page can be read again", async () => {
  const { sessions } = await storeWith(100)
  const filter = { kind: "even" }
  const second = await cursorOf(sessions, 2, filter)
  const before = await sessions.list({ limit: LIMIT, cursor: second, ...filter })
  const third = await sessions.list({ limit: LIMIT, cursor: before.next as string, ...filter })
  expect(await sessions.list({ limit: LIMIT, cursor: second, ...filter })).toEqual(before)
  await sessions.delete(third.sessions[0]?.id as string)
  const again = await sessions.list({ limit: LIMIT, cursor: before.next as string, ...filter })
  expect(again.sessions).toHaveLength(LIMIT)
  expect(again.sessions.map(({ id }) => id).slice(0, -1)).toEqual(third.sessions.map(({ id }) => id).slice(1))
})

test("a session that became unreadable is reported, and hides no other", async () => {
  const { sessions, storage } = await storeWith(100)
  const third = await cursorOf(sessions, 3)
  const page = await sessions.list({ limit: LIMIT, cursor: third })
  const [gone] = (await sessions.list({ limit: LIMIT, cursor: page.next as string })).sessions
  await sessions.delete(gone?.id as string)
  await storage.append(gone?.id as string, ["{}"], { expect: 0 })
  const after = await sessions.list({ limit: LIMIT, cursor: page.next as string })
  expect(after.sessions).toHaveLength(LIMIT)
  const all = await sessions.list({ limit: 200 })
  expect(all.unreadable.map(({ id }) => id)).toEqual([gone?.id])
})

async function storeWith(count: number, pretend: Partial<Capabilities> = {}) {
  const clock = { now: Date.UTC(2026, 0, 31) }
  const location = createMemoryLocation()
  const storage = createCountingStorage(createMemoryStorage({ location, clock: () => clock.now }), pretend)
  const sessions = createSessions({ storage, now: () => clock.now })
  for (let n = 0; n < count; n++) await made(sessions, clock, n)
  return { sessions, storage, clock }
}

async function made(sessions: Sessions, clock: { now: number }, n: number): Promise<void> {
  clock.now += 1
  await (await sessions.create({ id: idOf(n), kind: n % 2 === 0 ? "even" : "odd", entries: [user("a")] })).close()
}

function idOf(n: number): string {
  return `s${String(n).padStart(3, "0")}`
}

function newestFirst(count: number): string[] {
  return Array.from({ length: count }, (_, n) => idOf(count - 1 - n))
}

async function idsOf(sessions: Sessions, filter: ListOptions = {}, from?: string): Promise<string[]> {
  const ids: string[] = []
  let cursor = from
  do {
    const page = await sessions.list({ limit: LIMIT, ...filter, ...(cursor === undefined ? {} : { cursor }) })
    ids.push(...page.sessions.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== undefined)
  return ids
}

/** The cursor behind so many pages. */
async function cursorOf(sessions: Sessions, pages: number, filter: ListOptions = {}): Promise<string> {
  let next: string | undefined
  for (let page = 0; page < pages; page++)
    ({ next } = await sessions.list({ limit: LIMIT, ...filter, ...(next === undefined ? {} : { cursor: next }) }))
  return next as string
}
