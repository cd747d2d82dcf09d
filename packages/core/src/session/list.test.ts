import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { holdsAsync } from "../../test/property.ts"
import { codeOf, user } from "../../test/writers.ts"
import type { Capabilities, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"
import type { ListOptions, Sessions } from "./repository-types.ts"
import { piLogs } from "../transfer/migrate/index.ts"

test("sessions are sorted by their newest message, newest first, then by id, whatever the storage's order", async () => {
  const messages = fc.array(fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 4 }), fc.boolean()), {
    maxLength: 40,
    size: "max",
  })
  await holdsAsync(
    fc.asyncProperty(messages, fc.integer({ min: 1, max: 7 }), fc.boolean(), async (steps, limit, byId) => {
      const { sessions, clock } = fresh(byId ? { listOrder: "id" } : {})
      for (const [session, minutes, talks] of steps) {
        clock.now += minutes * 60_000
        const open = await sessions.openOrCreate(`s${session}`)
        if (talks) await open.append(user("hello"))
        else await open.title(`named at ${clock.now}`)
        await open.close()
      }
      const pages = await allPages(sessions, { limit })
      const ids = new Set(steps.map(([session]) => `s${session}`))
      expect(
        pages
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual([...ids].toSorted())
      const sorted = pages
        .flat()
        .toSorted((a, b) => compareText(b.lastMessageAt, a.lastMessageAt) || compareText(b.id, a.id))
      expect(pages.flat()).toEqual(sorted)
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
    }),
    25,
  )
})

test("titles, labels, metadata and usage do not move a session up", async () => {
  const { sessions, clock } = fresh()
  for (const id of ["a", "b"]) {
    clock.now += 1_000
    await (await sessions.create({ id })).append(user("hello"))
  }
  const a = await sessions.open("a")
  for (const change of [
    () => sessions.rename("a", "named"),
    () => sessions.move("a", { cwd: "/there" }),
    () => a.label(a.leafId as string, "here"),
    () => a.append({ type: "usage", kind: "title", usage: { input: 1 } }),
  ]) {
    clock.now += 1_000
    await change()
    expect((await sessions.list()).sessions.map(({ id }) => id)).toEqual(["b", "a"])
  }
  clock.now += 1_000
  await a.append(user("again"))
  expect((await sessions.list()).sessions.map(({ id }) => id)).toEqual(["a", "b"])
})

test("pages list each session once during renames, and no session twice during new messages", async () => {
  const { sessions, clock } = fresh()
  for (let n = 0; n < 12; n++) {
    clock.now += 1_000
    await (await sessions.create({ id: `s${n}` })).append(user("hello"))
  }
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await sessions.list({ limit: 5, ...(cursor === undefined ? {} : { cursor }) })
    seen.push(...page.sessions.map(({ id }) => id))
    cursor = page.next
    clock.now += 1_000
    await sessions.rename("s0", `named at ${clock.now}`)
    await (await sessions.open("s11")).append(user("again"))
    await sessions.create({ id: `later${clock.now}` })
  } while (cursor !== undefined)
  expect(seen).toEqual(Array.from({ length: 12 }, (_, n) => `s${11 - n}`))
})

test("a page has 1 to 200 sessions, 50 by default; any other limit or an unknown cursor is `invalid`", async () => {
  const { sessions } = fresh()
  for (let n = 0; n < 51; n++) await sessions.create({ id: `s${n}` })
  expect((await sessions.list()).sessions).toHaveLength(50)
  for (const limit of [0, 201, 1.5, -1, Number.NaN, "5" as never])
    expect(await codeOf(sessions.list({ limit }))).toBe("invalid")
  for (const cursor of ["", "x", "/", "yesterday/s1", "2026-01-01T00:00:00.000Z/", "2026-01-01T00:00:00.000Z/a/b"])
    expect(await codeOf(sessions.list({ cursor }))).toBe("invalid")
  const all = await sessions.list({ limit: 200 })
  expect(all.sessions).toHaveLength(51)
  expect(all).not.toHaveProperty("next")
})

test("cwd, source and parent filter sessions; a moved session has its new cwd", async () => {
  const { sessions } = fresh()
  await sessions.create({ id: "a", cwd: "/one" })
  await sessions.create({ id: "b", cwd: "/two", source: "cron", cronJobId: "nightly" })
  await sessions.create({ id: "c", cwd: "/one", parentSession: { id: "a" } })
  await sessions.create({ id: "d", parentSession: { ref: "a" } })
  const ids = async (o: ListOptions): Promise<string[]> =>
    (await sessions.list(o)).sessions.map(({ id }) => id).toSorted()
  expect(await ids({})).toEqual(["a", "b", "c", "d"])
  expect(await ids({ cwd: "/one" })).toEqual(["a", "c"])
  expect(await ids({ cwd: "/one/" })).toEqual([])
  expect(await ids({ source: "cron" })).toEqual(["b"])
  expect(await ids({ source: "interactive" })).toEqual(["a", "c", "d"])
  expect(await ids({ parent: "a" })).toEqual(["c"])
  expect(await ids({ cwd: "/one", parent: "a" })).toEqual(["c"])
  await sessions.move("a", { cwd: "/two" })
  expect(await ids({ cwd: "/one" })).toEqual(["c"])
  expect(await ids({ cwd: "/two" })).toEqual(["a", "b"])
})

test("idPrefix, kind and metadata filter sessions; kind null lists those without a kind", async () => {
  const { sessions } = fresh()
  await sessions.create({ id: "a.1", kind: "claude-agent", metadata: { project: "p", tags: [1, { x: 1, y: null }] } })
  await sessions.create({ id: "a.2", kind: "langgraph", metadata: { project: "p", thread: "t" } })
  await sessions.create({ id: "b", metadata: { project: null } })
  await sessions.create({ id: "ab" })
  const ids = async (o: ListOptions): Promise<string[]> =>
    (await sessions.list(o)).sessions.map(({ id }) => id).toSorted()
  expect(await ids({ idPrefix: "a." })).toEqual(["a.1", "a.2"])
  expect(await ids({ idPrefix: "" })).toEqual(["a.1", "a.2", "ab", "b"])
  expect(await ids({ idPrefix: "c" })).toEqual([])
  expect(await ids({ kind: "langgraph" })).toEqual(["a.2"])
  expect(await ids({ kind: "lang" })).toEqual([])
  expect(await ids({ kind: null })).toEqual(["ab", "b"])
  expect(await ids({ metadata: {} })).toEqual(["a.1", "a.2", "ab", "b"])
  expect(await ids({ metadata: { project: "p" } })).toEqual(["a.1", "a.2"])
  expect(await ids({ metadata: { project: null } })).toEqual(["b"])
  expect(await ids({ metadata: { project: "p", thread: "t" } })).toEqual(["a.2"])
  expect(await ids({ metadata: { tags: [1, { y: null, x: 1 }] } })).toEqual(["a.1"])
  expect(await ids({ metadata: { tags: [1] } })).toEqual([])
  expect(await ids({ metadata: { constructor: 1, toString: 1 } })).toEqual([])
  expect(await ids({ idPrefix: "a", kind: "langgraph", metadata: { project: "p" } })).toEqual(["a.2"])
  await (await sessions.open("a.2")).metadata("project", "q")
  expect(await ids({ metadata: { project: "p" } })).toEqual(["a.1"])
  expect((await sessions.info("a.1")).kind).toBe("claude-agent")
  expect(await sessions.info("b")).not.toHaveProperty("kind")
})

test("a wrong filter is `invalid`, and lists nothing else in its place", async () => {
  const { sessions } = fresh()
  const wrong = {
    idPrefix: [null, 1],
    kind: ["", 1, {}],
    metadata: [null, [], "x", { tenant: undefined }],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) expect(await codeOf(sessions.list({ [name]: value }))).toBe("invalid")
})

test("every page but the last is full, whatever the filter leaves out, and a cursor continues under another filter", async () => {
  const kinds = fc.array(fc.constantFrom("x", "y", undefined), { maxLength: 30, size: "max" })
  await holdsAsync(
    fc.asyncProperty(kinds, fc.integer({ min: 1, max: 5 }), fc.boolean(), async (made, limit, byId) => {
      const { sessions, clock } = fresh(byId ? { listOrder: "id" } : {})
      for (const [n, kind] of made.entries()) {
        clock.now += 1_000
        const id = `${n % 2 === 0 ? "even" : "odd"}${n}`
        await sessions.create({ id, ...(kind === undefined ? {} : { kind }), entries: [user("hello")] })
      }
      const newest = (await allPages(sessions, { limit: 200 })).flat()
      for (const filter of [{ kind: "x" }, { kind: null }, { idPrefix: "odd" }, { idPrefix: "even", kind: "y" }]) {
        const matching = newest.filter(
          ({ id, kind }) =>
            id.startsWith(filter.idPrefix ?? "") && (filter.kind === undefined || (kind ?? null) === filter.kind),
        )
        const pages = await allPages(sessions, { limit, ...filter })
        expect(pages.flat()).toEqual(matching)
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
        const first = await sessions.list({ limit })
        if (first.next === undefined) continue
        const rest = await sessions.list({ limit: 200, cursor: first.next, ...filter })
        expect(rest.sessions).toEqual(matching.filter((one) => !first.sessions.some(({ id }) => id === one.id)))
      }
    }),
    16,
  )
})

test("a session whose id has another prefix is neither read nor reported as unreadable", async () => {
  for (const listOrder of ["id", "updatedAt"] as const) {
    const { sessions, storage } = fresh({ listOrder })
    for (const id of ["a.1", "b.1", "c.1"]) {
      await storage.append(id, ["{}"], { expect: 0 })
      await sessions.create({ id: `${id}.2` })
    }
    storage.take()
    const page = await sessions.list({ idPrefix: "b." })
    expect(page.sessions.map(({ id }) => id)).toEqual(["b.1.2"])
    expect(page.unreadable.map(({ id }) => id)).toEqual(["b.1"])
    // In the order of the ids, the listing ends with the first one behind the prefix.
    expect(storage.take().rows).toBe(listOrder === "id" ? 5 : 6)
  }
})

test("listing reads no log whose information is up to date", async () => {
  const { sessions, storage, location } = fresh()
  for (let n = 0; n < 20; n++) await (await sessions.create({ id: `s${n}` })).append(user(`say ${n}`))
  const other = createCountingStorage(createMemoryStorage({ location }))
  const { sessions: rows } = await createSessions({ storage: other }).list()
  expect(rows).toHaveLength(20)
  expect(other.take()).toMatchObject({ lines: 0, docsGot: 0 })
  expect(storage.take().lines).toBe(0)
})

test("if the storage lists newest rows first, listing stops when no further row can belong to the page", async () => {
  const { sessions, storage, clock } = fresh()
  for (let n = 0; n < 100; n++) {
    clock.now += 1_000
    await (await sessions.create({ id: `s${n}` })).append(user("hello"))
  }
  storage.take()
  const page = await sessions.list({ limit: 10 })
  expect(page.sessions.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `s${99 - n}`))
  expect(storage.take().rows).toBeLessThanOrEqual(12)
  // Its title was just set, so it is among the newest rows but not on the page.
  clock.now += 1_000
  await sessions.rename("s0", "named")
  expect((await sessions.list({ limit: 10 })).sessions[0]?.id).toBe("s99")
  storage.take()
  await sessions.list({ limit: 10, cursor: page.next as string })
  expect(storage.take().rows).toBeLessThanOrEqual(24)
})

test("sessions of an earlier page are not read again unless they have changed", async () => {
  const { sessions, storage, clock } = fresh()
  // Too long to be kept beside the head: its information is a document.
  for (let n = 0; n < 10; n++) {
    clock.now += 1_000
    await (await sessions.create({ id: `s${n}`, title: "t".repeat(9_000) })).append(user("hello"))
  }
  await sessions.list({ limit: 20 })
  const first = await sessions.list({ limit: 5 })
  storage.take()
  const second = await sessions.list({ limit: 5, cursor: first.next as string })
  expect(second.sessions.map(({ id }) => id)).toEqual(["s4", "s3", "s2", "s1", "s0"])
  expect(storage.take().docsGot).toBe(5)
  await (await sessions.open("s9")).append(user("again"))
  storage.take()
  await sessions.list({ limit: 5, cursor: first.next as string })
  expect(storage.take().docsGot).toBeGreaterThan(5)
})

test("a session that was deleted and created again between two pages is on the next page, even if its log looks the same", async () => {
  const { sessions, clock } = fresh()
  for (let n = 0; n < 4; n++) {
    clock.now += 60_000
    await (await sessions.create({ id: `s${n}` })).append(user("hello"))
  }
  const first = await sessions.list({ limit: 2 })
  expect(first.sessions.map(({ id }) => id)).toEqual(["s3", "s2"])
  await sessions.delete("s3")
  const long = new Date(clock.now - 600_000).toISOString()
  const header = { type: "session", format: "@sessions", version: 4, id: "s3", timestamp: long }
  const entry = {
    type: "message",
    id: "m",
    parentId: null,
    seq: 1,
    timestamp: long,
    message: { role: "user", content: [] },
  }
  await sessions.storage.append("s3", [JSON.stringify(header), JSON.stringify(entry)], { expect: 0 })
  const second = await sessions.list({ limit: 3, cursor: first.next as string })
  expect(second.sessions.map(({ id }) => id)).toEqual(["s1", "s0", "s3"])
})

test("invalid, older and newer logs are listed or reported, and hide no other session", async () => {
  const { sessions, storage } = fresh()
  await (await sessions.create({ id: "ours" })).append(user("hello"))
  const put = (id: string, ...lines: readonly string[]) => storage.append(id, lines, { expect: 0 })
  await put("foreign", '{"type":"something"}')
  await put("text", "this is no record")
  await put("blank", " ")
  const at = "2026-01-31T09:30:00.000Z"
  await put(
    "v3",
    JSON.stringify({ type: "session", version: 3, id: "x", timestamp: at, cwd: "/old" }),
    JSON.stringify({ type: "session_info", id: "i1", parentId: null, timestamp: at, name: "An old one" }),
    JSON.stringify({
      type: "message",
      id: "m1",
      parentId: "i1",
      timestamp: at,
      message: { role: "user", content: "old words" },
    }),
  )
  await put("v1", JSON.stringify({ type: "session", id: "y", timestamp: at, cwd: "/old", provider: "p", modelId: "m" }))
  const future = { type: "session", format: "@sessions", version: 9, id: "future", timestamp: at, title: "From later" }
  await put("future", JSON.stringify(future))
  await put("cut", JSON.stringify({ ...future, version: 4, id: "cut", origin: { format: "pi", version: 3, lines: 5 } }))
  for (let time = 0; time < 2; time++) {
    const page = await sessions.list()
    const byId = Object.fromEntries(page.sessions.map((info) => [info.id, info]))
    expect(Object.keys(byId).toSorted()).toEqual(["cut", "future", "ours", "v1", "v3"])
    expect(byId["v3"]).toMatchObject({ cwd: "/old", title: "An old one", firstPrompt: "old words", messageCount: 1 })
    expect(byId["v1"]).toMatchObject({ cwd: "/old", model: { provider: "p", model: "m" } })
    expect(byId["future"]).toMatchObject({ title: "From later" })
    expect(byId["cut"]).toMatchObject({ incomplete: true })
    expect(byId["ours"]).not.toHaveProperty("incomplete")
    expect(page.unreadable.map(({ id }) => id).toSorted()).toEqual(["blank", "foreign", "text"])
    for (const { error } of page.unreadable) expect((error as { code?: string }).code).toBe("not_a_session")
  }
})

test("information projected from an older log is stored until the log changes", async () => {
  const { sessions, storage } = fresh()
  const at = "2026-01-31T09:30:00.000Z"
  const message = (id: string, parentId: string | null) =>
    JSON.stringify({ type: "message", id, parentId, timestamp: at, message: { role: "user", content: id } })
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "x", timestamp: at, cwd: "/old" }),
    JSON.stringify({ type: "session_info", id: "i1", parentId: null, timestamp: at, name: "An old one" }),
    message("m1", "i1"),
  ]
  const head = await storage.append("old", lines, { expect: 0 })
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1)
  storage.take()
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1)
  expect(storage.take().lines).toBe(0)
  // Another program continues the log in its own format.
  await storage.append("old", [message("m2", "m1")], { expect: head })
  expect((await sessions.list()).sessions[0]).toMatchObject({ messageCount: 2, title: "An old one" })
})

test("a session that is deleted during the listing is left out; an unreadable one is reported", async () => {
  const { storage } = fresh()
  const put = (id: string) =>
    storage.append(
      id,
      [JSON.stringify({ type: "session", format: "@sessions", version: 4, id, timestamp: "2026-01-31T09:30:00.000Z" })],
      { expect: 0 },
    )
  for (const id of ["a", "b", "c"]) await put(id)
  const disturbed: SessionStorage = {
    ...storage,
    async *read(id, range, o) {
      if (id === "b") await storage.delete("b")
      if (id === "c") throw new StorageError("corrupt", "The bytes are no UTF-8.")
      yield* storage.read(id, range, o)
    },
  }
  const page = await createSessions({ storage: disturbed }).list()
  expect(page.sessions.map(({ id }) => id)).toEqual(["a"])
  expect(page.unreadable.map(({ id }) => id)).toEqual(["c"])
})

test("a log that is replaced during the listing is read again", async () => {
  const { storage } = fresh()
  const header = { type: "session", format: "@sessions", version: 4, id: "a", timestamp: "2026-01-31T09:30:00.000Z" }
  const head = await storage.append("a", [JSON.stringify({ ...header, title: "before" })], { expect: 0 })
  let first = true
  const disturbed: SessionStorage = {
    ...storage,
    async *read(id, range, o) {
      if (!first) return yield* storage.read(id, range, o)
      first = false
      await storage.replace?.("a", one(JSON.stringify({ ...header, title: "after" })), { expect: head })
      throw new StorageError("conflict", "The log was replaced.")
    },
  }
  const page = await createSessions({ storage: disturbed }).list()
  expect(page).toMatchObject({ sessions: [{ title: "after" }], unreadable: [] })
})

test("an unreachable session is reported beside the others; an unreachable storage fails the list", async () => {
  const { sessions, storage } = fresh()
  await sessions.create({ id: "a" })
  await storage.append("b", ["{}"], { expect: 0 })
  const refused = (): never => {
    throw new StorageError("unavailable", "Nobody answers.")
  }
  let isAway = false
  const disturbed: SessionStorage = {
    ...storage,
    head: (id, o) => (isAway ? refused() : storage.head(id, o)),
    read: (id, range, o) => (isAway || id === "b" ? refused() : storage.read(id, range, o)),
  }
  const listed = createSessions({ storage: disturbed })
  const page = await listed.list()
  expect(page.sessions.map(({ id }) => id)).toEqual(["a"])
  expect(page.unreadable).toMatchObject([{ id: "b", error: { code: "unavailable" } }])
  isAway = true
  expect(await codeOf(listed.list())).toBe("unavailable")
})

function fresh(pretend: Partial<Capabilities> = {}) {
  const clock = { now: Date.UTC(2026, 0, 31) }
  const location = createMemoryLocation()
  const storage = createCountingStorage(createMemoryStorage({ location, clock: () => clock.now }), pretend)
  return { sessions: createSessions({ storage, readers: [piLogs], now: () => clock.now }), storage, location, clock }
}

async function* one(line: string) {
  yield { from: 0, lines: [line] }
}

async function allPages(sessions: Sessions, o: ListOptions) {
  const pages = []
  let cursor: string | undefined
  do {
    const page = await sessions.list({ ...o, ...(cursor === undefined ? {} : { cursor }) })
    pages.push(page.sessions)
    cursor = page.next
  } while (cursor !== undefined)
  return pages
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
