import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holdsAsync } from "../../../test/property.ts"
import { codeOf, sessionsIn } from "../../../test/transfer.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { deleteOldSessions } from "../index.ts"

const DAY = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 5, 1)

const said = (text: string, age = 0) =>
  ({
    type: "message",
    timestamp: new Date(NOW - age).toISOString(),
    message: { role: "user", content: text },
  }) as const

async function make(storage: SessionStorage, id: string, age: number, o: object = {}): Promise<void> {
  const sessions = sessionsIn(storage, { now: () => NOW - age })
  const session = await sessions.create({ id, ...o })
  await session.append(said(id, age))
  await session.close()
}

async function idsIn(storage: SessionStorage): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of storage.list()) ids.push(id)
  return ids.toSorted()
}

const now = () => NOW

test("sessions whose last message is older are deleted, the oldest first; the others stay", async () => {
  const storage = createMemoryStorage()
  for (const [id, age] of [
    ["new", 1],
    ["older", 40],
    ["oldest", 90],
    ["limit", 30],
  ] as const)
    await make(storage, id, age * DAY)
  const sessions = sessionsIn(storage, { now })
  const dry = await deleteOldSessions(sessions, { olderThan: 30 * DAY, dryRun: true })
  expect(dry.removed.map(({ id }) => id)).toEqual(["oldest", "older"])
  expect(await idsIn(storage)).toHaveLength(4)
  expect(await deleteOldSessions(sessions, { olderThan: 30 * DAY })).toEqual(dry)
  expect(await idsIn(storage)).toEqual(["limit", "new"])
})

test("a session without a timestamp that is a time is as old as its last append", async () => {
  let time = NOW - 31 * DAY
  const storage = createMemoryStorage({ clock: () => time })
  const put = async (id: string): Promise<void> => {
    const header = { type: "session", format: "@sessions", version: 4, id, timestamp: "yesterday" }
    const message = { ...said("hi"), id: "a", parentId: null, seq: 1, timestamp: "yesterday" }
    await storage.append(id, [JSON.stringify(header), JSON.stringify(message)], { expect: 0 })
  }
  await put("old")
  time = NOW
  await put("new")
  const { removed } = await deleteOldSessions(sessionsIn(storage, { now }), { olderThan: 30 * DAY })
  expect(removed.map(({ id }) => id)).toEqual(["old"])
  expect(await idsIn(storage)).toEqual(["new"])
})

test("only sessions of the cwd and the source are deleted, and the hook runs for each", async () => {
  const storage = createMemoryStorage()
  await make(storage, "a", 90 * DAY, { cwd: "/a", source: "cron" })
  await make(storage, "b", 90 * DAY, { cwd: "/a" })
  await make(storage, "c", 90 * DAY, { cwd: "/c", source: "cron" })
  const deleted: string[] = []
  const sessions = sessionsIn(storage, { now, hooks: { delete: ({ session }) => void deleted.push(session) } })
  await deleteOldSessions(sessions, { olderThan: DAY, cwd: "/a", source: "cron" })
  expect(await idsIn(storage)).toEqual(["b", "c"])
  expect(deleted).toEqual(["a"])
})

test("an open session, a kept one and one with prompts are skipped as open", async () => {
  const storage = createMemoryStorage()
  for (const id of ["closed", "open", "leased", "queued", "served"]) await make(storage, id, 90 * DAY)
  const put = (id: string, queue: object) =>
    storage.docs.put(`sessions/${id}/prompts`, JSON.stringify(queue), { expect: null })
  await put("queued", { prompts: [{}], ended: [] })
  await put("leased", { prompts: [], ended: [], lease: { until: NOW + 1 } })
  await put("served", { prompts: [], ended: [{}], lease: { until: NOW } })
  const sessions = sessionsIn(storage, { now })
  const open = await sessions.open("open")
  const { removed, skipped } = await deleteOldSessions(sessions, { olderThan: DAY })
  expect(removed.map(({ id }) => id).toSorted()).toEqual(["closed", "served"])
  expect(skipped.map(({ id, why }) => `${id} ${why}`)).toEqual(["leased open", "open open", "queued open"])
  await open.append(said("still there"))
  await sessions.close()
})

test("a session that another writer continues, or deletes, after it was listed is skipped as changed", async () => {
  const location = createMemoryLocation()
  const [storage, other] = [createMemoryStorage({ location }), createMemoryStorage({ location })]
  for (const id of ["a", "b", "c"]) await make(storage, id, 90 * DAY)
  const changing: SessionStorage = {
    ...storage,
    async delete(id, o) {
      if (id === "a") {
        const session = await sessionsIn(other, { now }).open(id)
        await session.append(said("just now"))
        await session.close()
      }
      if (id === "b") await other.delete(id)
      return storage.delete(id, o)
    },
  }
  const { removed, skipped } = await deleteOldSessions(sessionsIn(changing, { now }), { olderThan: DAY })
  expect(removed.map(({ id }) => id)).toEqual(["c"])
  expect(skipped).toMatchObject([
    { id: "a", why: "changed" },
    { id: "b", why: "changed" },
  ])
  expect(await idsIn(other)).toEqual(["a"])
})

test("a session that cannot be read or deleted is skipped with its error, and the others are deleted", async () => {
  const storage = createMemoryStorage()
  await storage.append("a", ["no session"], { expect: 0 })
  for (const id of ["b", "c"]) await make(storage, id, 90 * DAY)
  const failing: SessionStorage = {
    ...storage,
    async delete(id, o) {
      if (id === "b") throw new StorageError("corrupt", "damaged")
      return storage.delete(id, o)
    },
  }
  const { removed, skipped } = await deleteOldSessions(sessionsIn(failing, { now }), { olderThan: DAY })
  expect(removed.map(({ id }) => id)).toEqual(["c"])
  expect(skipped).toMatchObject([
    { id: "b", why: "failed", error: { code: "corrupt" } },
    { id: "a", why: "failed" },
  ])
})

test("wrong options are `invalid`, and a storage that cannot compare is `unsupported`; neither deletes", async () => {
  const storage = createMemoryStorage()
  await make(storage, "a", 90 * DAY)
  const sessions = sessionsIn(storage, { now })
  for (const o of [
    undefined,
    {},
    { olderThan: 0 },
    { olderThan: Number.NaN },
    { olderThan: 1, cwd: 1 },
    { olderThen: 1 },
  ])
    expect(await codeOf(deleteOldSessions(sessions, o as never))).toBe("invalid")
  expect(await codeOf(deleteOldSessions(sessions, { olderThan: 1, signal: AbortSignal.abort() }))).toBe("aborted")
  const { deleteIf: _, ...capabilities } = storage.capabilities
  expect(await codeOf(deleteOldSessions(sessionsIn({ ...storage, capabilities }, { now }), { olderThan: 1 }))).toBe(
    "unsupported",
  )
  expect(await idsIn(storage)).toEqual(["a"])
})

test("whatever other writers and faults do, no session with a newer message goes, and no acknowledged message of a session that stays", async () => {
  const event = fc.record({
    at: fc.nat({ max: 40 }),
    id: fc.nat({ max: 5 }),
    kind: fc.constantFrom("append", "create", "delete", "fail", "lost"),
  })
  const world = fc.record({
    ages: fc.array(fc.nat({ max: 60 }), { maxLength: 6 }),
    events: fc.array(event, { maxLength: 12 }),
  })
  await holdsAsync(
    fc.asyncProperty(world, async ({ ages, events }) => {
      const location = createMemoryLocation()
      const [storage, other] = [createMemoryStorage({ location }), createMemoryStorage({ location })]
      for (const [n, age] of ages.entries()) await make(storage, `s${n}`, age * DAY)
      /** Newest acknowledged message of each session, by its age in ms. */
      const newest = new Map(ages.map((age, n) => [`s${n}`, age * DAY]))
      let call = 0
      const interfere = async (): Promise<"fail" | "lost" | undefined> => {
        let fault: "fail" | "lost" | undefined
        for (const { id, kind } of events.filter(({ at }) => at === call)) {
          const name = `s${id}`
          if (kind === "fail" || kind === "lost") fault = kind
          else if (kind === "delete") {
            await other.delete(name)
            newest.delete(name)
          } else if (kind === "create" && (await other.head(name)) === undefined) {
            await make(other, name, 0)
            newest.set(name, 0)
          } else if (kind === "append" && (await other.head(name)) !== undefined) {
            const session = await sessionsIn(other, { now }).open(name)
            await session.append(said("now"))
            await session.close()
            newest.set(name, 0)
          }
        }
        call++
        return fault
      }
      const faulty: SessionStorage = {
        ...storage,
        async head(id, o) {
          if ((await interfere()) === "fail") throw new StorageError("unavailable", "out of reach")
          return storage.head(id, o)
        },
        async delete(id, o) {
          const fault = await interfere()
          if (fault === "fail") throw new StorageError("unavailable", "out of reach")
          const deleted = await storage.delete(id, o)
          if (fault === "lost") throw new StorageError("indeterminate", "the answer was lost")
          return deleted
        },
        docs: {
          ...storage.docs,
          async get(key, o) {
            await interfere()
            return storage.docs.get(key, o)
          },
        },
      }
      const limit = 30 * DAY
      const result = await deleteOldSessions(sessionsIn(faulty, { now }), { olderThan: limit }).catch(() => undefined)
      const left = new Set(await idsIn(storage))
      for (const [id, age] of newest) if (age <= limit) expect([id, left.has(id)]).toEqual([id, true])
      for (const { id, lastMessageAt } of result?.removed ?? []) {
        expect(NOW - Date.parse(lastMessageAt)).toBeGreaterThan(limit)
        if (newest.get(id) !== 0) expect(left.has(id)).toBe(false)
      }
    }),
    80,
  )
})
