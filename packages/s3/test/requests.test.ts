import { createSessions, type Session } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { expect, onTestFinished, test, vi } from "vitest"
import { FakeBucket } from "./fake-bucket.ts"
import { linesOf } from "./lines.ts"
import { takeCounts } from "./open-storage.ts"
import { appendsTest, largeSessionTest, openStill } from "./requests.ts"

const message = (content: string) => ({ type: "message", message: { role: "user", content } }) as const

/** Messages of 1.8 KB, ten at a time. */
async function appendMany(session: Session, count: number): Promise<void> {
  for (let n = 0; n < count; n += 10) await session.append(Array.from({ length: 10 }, () => message("x".repeat(1_800))))
}

appendsTest(600)

test("the first session that a process creates costs the nine requests of the probe, later ones none", async () => {
  const { storage, store } = openStill(undefined, { etags: undefined as never })
  await storage.append("a", ["{}"], { expect: 0 })
  expect(takeCounts(store)).toEqual({ put: 9, delete: 1 })
  await storage.append("b", ["{}"], { expect: 0 })
  expect(takeCounts(store)).toEqual({ put: 1 })
})

test("a resume with a context of 100 KB is one GET, the first append after it one PUT", async () => {
  const bucket = new FakeBucket()
  const sessions = createSessions({ storage: openStill(bucket).storage })
  const session = await sessions.create()
  await appendMany(session, 150)
  await compact(session, { summarize: async () => "a summary", keepRecentTokens: 0 })
  await appendMany(session, 50)
  await sessions.close()

  const { storage, store } = openStill(bucket)
  const again = createSessions({ storage })
  const resumed = await again.open(session.id)
  expect((await resumed.context()).messages.length).toBeGreaterThan(50)
  expect(takeCounts(store)).toEqual({ get: 1 })
  await resumed.append(message("and on"))
  expect(takeCounts(store)).toEqual({ put: 1 })
  await again.close()
})

test("opening a compacted session reports a turn that another writer hid long ago, in one GET", async () => {
  const bucket = new FakeBucket()
  const sessions = createSessions({ storage: openStill(bucket).storage })
  const other = createSessions({ storage: openStill(bucket).storage })
  const session = await sessions.create()
  await session.append(message("start"))
  const { ids } = await (await other.open(session.id)).append(message("hidden"))
  await appendMany(session, 300)
  await compact(session, { summarize: async () => "a summary", keepRecentTokens: 0 })
  await Promise.all([sessions.close(), other.close()])

  const { storage, store } = openStill(bucket)
  const again = createSessions({ storage })
  const resumed = await again.open(session.id)
  expect(resumed.diagnostics).toMatchObject([{ code: "diverged", tips: [{ seq: 2, id: ids[0] }] }])
  expect(takeCounts(store)).toEqual({ get: 1 })
  await again.close()
})

test("following a session is one GET every 2 s, one more for each append of another writer, and none for own ones", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const bucket = new FakeBucket()
  const { storage, store } = openStill(bucket)
  const sessions = createSessions({ storage })
  const one = await sessions.create()
  await one.append(message("start"))
  const two = await createSessions({ storage: openStill(bucket).storage }).open(one.id)
  // The code of following is loaded on first use, which takes time of the machine's clock.
  await import("../../core/src/session/features/seldom.ts")
  const following = one.follow()
  await vi.advanceTimersByTimeAsync(1_000)
  takeCounts(store)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(takeCounts(store)).toEqual({ get: 10 })
  await two.append(message("theirs"))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(one.leafId).toBe(two.leafId)
  expect(takeCounts(store)).toEqual({ get: 2 })
  await one.append(message("own"))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(takeCounts(store)).toEqual({ get: 1, put: 1 })
  await sessions.close()
  await following
})

test("a lease adds three PUTs and six GETs to a turn", async () => {
  const bucket = new FakeBucket()
  const sessions = createSessions({ storage: openStill(bucket).storage })
  const session = await sessions.create()
  // The first turn with a lease makes the document.
  await session.turn((turn) => turn.append(message("first")), { lease: 30_000 })
  await sessions.close()

  const { storage, store } = openStill(bucket)
  const again = createSessions({ storage })
  const resumed = await again.open(session.id)
  takeCounts(store)
  await resumed.turn((turn) => turn.append(message("second")), { lease: 30_000 })
  expect(takeCounts(store)).toEqual({ get: 6, put: 4 })
  await again.close()
})

test("a resume with a context of 900 KB is at most 5 GETs", async () => {
  const bucket = new FakeBucket()
  const sessions = createSessions({ storage: openStill(bucket).storage })
  const session = await sessions.create()
  await appendMany(session, 800)
  await compact(session, { summarize: async () => "a summary", keepRecentTokens: 0 })
  await appendMany(session, 450)
  await sessions.close()

  const { storage, store } = openStill(bucket)
  const again = createSessions({ storage })
  const { messages } = await (await again.open(session.id)).context()
  expect(JSON.stringify(messages).length).toBeGreaterThan(800_000)
  const { get = 0, ...others } = takeCounts(store)
  expect(others).toEqual({})
  expect(get).toBeLessThanOrEqual(5)
  await again.close()
})

test("a list is one LIST per 1,000 sessions and one GET per row, and reads nothing beyond its limit", async () => {
  const { storage, store } = openStill()
  for (let n = 0; n < 1_100; n++) await storage.append(`s${n}`, ["{}"], { expect: 0 })
  await storage.delete("s0")
  takeCounts(store)
  let rows = 0
  for await (const _ of storage.list()) rows++
  expect(rows).toBe(1_099)
  expect(takeCounts(store)).toEqual({ list: 2, get: 1_099 })
  for await (const _ of storage.list({ limit: 20 })) rows++
  expect(takeCounts(store)).toEqual({ list: 2, get: 20 })
})

largeSessionTest(40)

test("head and a read below the end that it returned are one GET together", async () => {
  const bucket = new FakeBucket()
  await openStill(bucket).storage.append("a", linesOf(10), { expect: 0 })
  const { storage, store } = openStill(bucket)
  const head = await storage.head("a")
  for await (const _ of storage.read("a", { from: 0, to: head?.next ?? 0 })) continue
  expect(takeCounts(store)).toEqual({ get: 1 })
  for await (const _ of storage.read("a")) continue
  expect(takeCounts(store)).toEqual({ get: 1 })
  const strict = openStill(bucket, { freshFor: 0 })
  await strict.storage.head("a")
  for await (const _ of strict.storage.read("a", { from: 0, to: 5 })) continue
  expect(takeCounts(strict.store)).toEqual({ get: 2 })
})
