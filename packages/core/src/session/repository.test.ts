import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { createFaultyStorage } from "../../test/faulty-storage.ts"
import { assistant, codeOf, contextTexts, storedLines, user } from "../../test/writers.ts"
import { httpStatus } from "../errors.ts"
import type { Header } from "../format/records.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"

// ---- creating ------------------------------------------------------------------------------------------------------------------

test("a session has what it was created with in its header, and opens elsewhere at once", async () => {
  const { sessions, elsewhere } = two()
  const given = {
    cwd: "/project",
    title: "A title",
    source: "cron" as const,
    cronJobId: "nightly",
    systemPromptOverride: "Be brief.",
    parentSession: { id: "parent", entryId: "e1" },
  }
  const session = await sessions.create(given)
  expect(session.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(session.header).toMatchObject({ type: "session", format: "@sessions", version: 4, id: session.id, ...given })
  expect((await elsewhere.open(session.id)).header).toEqual(session.header)
})

test("an id that is taken exists, whoever took it, and however little is in it", async () => {
  const { sessions, elsewhere } = two()
  const session = await sessions.create({ id: "a" })
  expect(await codeOf(sessions.create({ id: "a" }))).toBe("exists")
  expect(await codeOf(elsewhere.create({ id: "a" }))).toBe("exists")
  await session.close()
  expect(await codeOf(sessions.create({ id: "a" }))).toBe("exists")
})

test("of two that create one id at once in one repository, one does", async () => {
  const { sessions } = two()
  const made = await Promise.allSettled([sessions.create({ id: "a" }), sessions.create({ id: "a" })])
  expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected"])
})

const HOSTILE = [
  "../x",
  "",
  "a".repeat(129),
  "a\0b",
  "/etc/passwd",
  "a/b",
  "a\\b",
  "..",
  ".",
  "-a",
  "a-",
  "a..b",
  "ä",
  "a b",
  "a\n",
]

test("an id that could mean a path, a key or nothing is invalid in every call, before anything is looked for", async () => {
  const { sessions, storage } = two()
  for (const id of [...HOSTILE, undefined as never, 5 as never, {} as never]) {
    const calls = [
      () => sessions.open(id),
      () => sessions.openOrCreate(id),
      () => sessions.info(id),
      () => sessions.rename(id, "x"),
      () => sessions.move(id, { cwd: "/x" }),
      () => sessions.delete(id),
      () => sessions.fork(id),
      () => sessions.verify(id),
      () => sessions.migrate(id),
      () => sessions.copy(id, storage),
      ...(id === undefined ? [] : [() => sessions.create({ id })]),
    ]
    for (const call of calls) expect(await codeOf(call())).toBe("invalid")
  }
  const error: unknown = await sessions.open("../x").catch((reason: unknown) => reason)
  expect(httpStatus(error)).toBe(400)
})

test("with ulidsOnly, other ids are invalid", async () => {
  const sessions = createSessions({ storage: createMemoryStorage(), ulidsOnly: true })
  expect(await codeOf(sessions.create({ id: "mine" }))).toBe("invalid")
  expect(await codeOf(sessions.open("mine"))).toBe("invalid")
  const { id } = await sessions.create()
  expect(await codeOf(sessions.create({ id }))).toBe("exists")
})

test("a header that is not what a header is, or that no line holds, is refused before anything is written", async () => {
  const { sessions, storage } = two()
  expect(await codeOf(sessions.create({ id: "a", source: "other" as never }))).toBe("invalid")
  expect(await codeOf(sessions.create({ id: "a", parentSession: {} as never }))).toBe("invalid")
  const small = createMemoryStorage({ limits: { maxLineBytes: 1_000 } })
  const long = { id: "a", systemPromptOverride: "x".repeat(1_000) }
  expect(await codeOf(createSessions({ storage: small }).create(long))).toBe("too_large")
  expect(await storage.head("a")).toBeUndefined()
  expect(await small.head("a")).toBeUndefined()
})

test("a creation whose answer was lost is found again; one that another session stands in the way of exists", async () => {
  const faulty = createFaultyStorage(createMemoryStorage())
  const sessions = createSessions({ storage: faulty })
  for (const [id, fault] of [
    ["a", "response lost"],
    ["b", "request lost"],
    ["c", "unavailable"],
    ["d", "late"],
  ] as const) {
    faulty.fail("append", fault)
    const session = await sessions.create({ id })
    await faulty.deliver()
    await session.append(user("hello"))
    expect(await storedLines(faulty, id)).toHaveLength(2)
  }
  const other = createSessions({ storage: faulty })
  faulty.fail("append", "request lost")
  expect(await codeOf(other.create({ id: "a" }))).toBe("exists")
})

// ---- opening -------------------------------------------------------------------------------------------------------------------

test("an unknown id is not found, by any call that needs a session", async () => {
  const { sessions } = two()
  const calls = [
    () => sessions.open("nobody"),
    () => sessions.info("nobody"),
    () => sessions.rename("nobody", "x"),
    () => sessions.move("nobody", { cwd: "/x" }),
    () => sessions.delete("nobody"),
    () => sessions.fork("nobody"),
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("not_found")
  // And the id is free.
  await sessions.create({ id: "nobody" })
})

test("eight that open or create one id at once, over two repositories, get one session", async () => {
  for (const persistAfter of ["create", "user"] as const) {
    const { sessions, elsewhere, storage } = two({ persistAfter })
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? sessions : elsewhere).openOrCreate("a", { cwd: `/${n}` })),
    )
    if (persistAfter === "user") {
      expect(new Set(opened.map(({ header }) => header.cwd)).size).toBe(2)
      continue
    }
    expect(new Set(opened.map(({ header }) => header.cwd)).size).toBe(1)
    await Promise.all(opened.map((session, n) => session.append(user(`say ${n}`))))
    expect(await storedLines(storage, "a")).toHaveLength(9)
  }
})

test("opening an id while its creation fails has nothing to do with that failure", async () => {
  const { sessions, elsewhere } = two()
  await elsewhere.create({ id: "a", cwd: "/theirs" })
  const [made, opened] = await Promise.allSettled([sessions.create({ id: "a" }), sessions.open("a")])
  expect(made).toMatchObject({ status: "rejected", reason: { code: "exists" } })
  expect(opened).toMatchObject({ status: "fulfilled", value: { header: { cwd: "/theirs" } } })
})

test("creating an id while somebody looks for it in vain succeeds", async () => {
  const { sessions } = two()
  const [opened, made] = await Promise.allSettled([sessions.open("a"), sessions.create({ id: "a" })])
  expect(opened).toMatchObject({ status: "rejected", reason: { code: "not_found" } })
  expect(made.status).toBe("fulfilled")
})

// ---- handles -------------------------------------------------------------------------------------------------------------------

test("the handles that a repository has on one id share one session", async () => {
  const { sessions } = two()
  const one = await sessions.create({ id: "a" })
  const [other, third] = await Promise.all([sessions.open("a"), sessions.openOrCreate("a")])
  const appended = one.append(user("hello"))
  expect(other.leafId).toBe(one.leafId)
  expect(third.leafId).toBe(one.leafId)
  await appended
  expect(other.head).toEqual(one.head)
  expect(await contextTexts(third)).toEqual(["hello"])
})

test("a closed handle is closed for every call, and for itself alone", async () => {
  const { sessions } = two()
  const one = await sessions.create({ id: "a" })
  const other = await sessions.open("a")
  await one.close()
  await one.close()
  await expectClosed(one)
  await other.append(user("hello"))
  expect(await contextTexts(other)).toEqual(["hello"])
})

test("the last close waits for what was appended, makes it lasting, and lets the session go", async () => {
  const storage = createCountingStorage(createMemoryStorage())
  const faulty = createFaultyStorage(storage)
  const sessions = createSessions({ storage: faulty })
  const one = await sessions.create({ id: "a" })
  const other = await sessions.open("a")
  const release = faulty.hold("append")
  const appended = one.append(user("hello"))
  await other.close()
  expect(storage.counted.syncs).toBe(0)
  let closed = false
  const closing = one.close().then(() => (closed = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(closed).toBe(false)
  release()
  await closing
  expect((await appended).durable).toBe(true)
  expect(storage.counted.syncs).toBe(1)
  // Nothing was written: there is nothing to make lasting.
  await (await sessions.open("a")).close()
  expect(storage.counted.syncs).toBe(1)
})

test("a session that is opened while the last handle on it closes is the same one", async () => {
  const faulty = createFaultyStorage(createMemoryStorage())
  const sessions = createSessions({ storage: faulty })
  const one = await sessions.create({ id: "a" })
  const release = faulty.hold("append")
  const appended = one.append(user("first"))
  const closing = one.close()
  const again = await sessions.open("a")
  expect(again.leafId).not.toBeNull()
  release()
  await Promise.all([appended, closing])
  const { diverged } = await again.append(assistant("second"))
  expect(diverged).toBeUndefined()
  expect(await contextTexts(again)).toEqual(["first", "second"])
})

test("closing the sessions closes each with what it has queued, and everything after it is closed", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const one = await sessions.create({ id: "a" })
  const other = await sessions.create({ id: "b" })
  void one.append(user("hello"))
  void other.append(user("hello"))
  const opening = sessions.open("a")
  await Promise.all([sessions.close(), sessions.close()])
  await opening.catch(() => undefined)
  const check = createMemoryStorage({ location })
  expect([(await check.head("a"))?.next, (await check.head("b"))?.next]).toEqual([2, 2])
  await expectClosed(one)
  await one.close()
  const calls = [
    () => sessions.create(),
    () => sessions.open("a"),
    () => sessions.openOrCreate("a"),
    () => sessions.info("a"),
    () => sessions.list(),
    () => sessions.rename("a", "x"),
    () => sessions.move("a", { cwd: "/x" }),
    () => sessions.delete("a"),
    () => sessions.fork("a"),
    () => sessions.continueRecent({ cwd: "/x" }),
    () => sessions.pointers.set("p", { session: "a" }),
    () => sessions.pointers.get("p"),
    () => sessions.pointers.delete("p"),
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("closed")
})

test("sessions that cannot be flushed fail the close, which closes everything all the same", async () => {
  const inner = createMemoryStorage()
  const faulty = createFaultyStorage(inner)
  const sessions = createSessions({ storage: faulty })
  const session = await sessions.create({ id: "a" })
  faulty.fail("append", "late")
  faulty.fail("head", ...Array.from({ length: 12 }, () => "unavailable" as const))
  const appended = session.append(user("hello")).catch((error: unknown) => error)
  expect(await codeOf(sessions.close())).toBe("indeterminate")
  await appended
  expect(await codeOf(inner.head("a"))).toBe("closed")
})

// ---- changing ------------------------------------------------------------------------------------------------------------------

test("renaming and moving need no open session, and an open one sees them", async () => {
  const { sessions } = two()
  const session = await sessions.create({ id: "a", cwd: "/one", title: "first" })
  await sessions.rename("a", "second")
  await sessions.move("a", { cwd: "/two" })
  expect(await session.info()).toMatchObject({ title: "second", titleSource: "user", cwd: "/two" })
  expect(session.header.cwd).toBe("/one")
  await sessions.rename("a", null)
  expect(await sessions.info("a")).not.toHaveProperty("title")
  for (const cwd of ["", 5 as never, undefined as never])
    expect(await codeOf(sessions.move("a", { cwd }))).toBe("invalid")
  expect(await codeOf(sessions.rename("a", 5 as never))).toBe("invalid")
})

test("deleting takes the log and its documents, says how much that was, and makes room for another of that id", async () => {
  const { sessions, storage, elsewhere } = two()
  const session = await sessions.create({ id: "a", systemPromptOverride: "x".repeat(9_000) })
  await session.append(user("hello"))
  await storage.docs.put("sessions/a/notes", "{}", { expect: null })
  await sessions.list()
  const { bytes } = (await storage.head("a")) as { bytes: number }
  expect(await sessions.delete("a")).toEqual({ bytes, parts: 1 })
  expect(await keys(storage)).toEqual([])
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(session.info())).toBe("not_found")
  expect(await codeOf(sessions.delete("a"))).toBe("not_found")
  const again = await sessions.create({ id: "a" })
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(session.info())).toBe("not_found")
  await again.append(user("anew"))
  await session.close()
  expect(await keys(storage)).toEqual([])
  expect(await contextTexts(await elsewhere.open("a"))).toEqual(["anew"])
  expect(await codeOf(elsewhere.delete("b"))).toBe("not_found")
})

test("a session that another repository deleted is gone for its handles", async () => {
  const { sessions, elsewhere } = two()
  const session = await sessions.create({ id: "a" })
  await elsewhere.delete("a")
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(sessions.info("a"))).toBe("not_found")
})

// ---- hooks ---------------------------------------------------------------------------------------------------------------------

test("create and delete hooks are told; one that throws or rejects is reported and stops nothing", async () => {
  const told: unknown[] = []
  const failed: unknown[] = []
  const hooks = [
    {
      create: ({ session, header }: { session: string; header: Header }) => told.push(["create", session, header.cwd]),
      delete: ({ session }: { session: string }) => told.push(["delete", session]),
    },
    {
      create: () => {
        throw new Error("thrown")
      },
      delete: async () => Promise.reject(new Error("rejected")),
    },
  ]
  const onHookFailed = (hook: string, error: unknown): unknown => failed.push([hook, (error as Error).message])
  const sessions = createSessions({ storage: createMemoryStorage(), hooks, onHookFailed })
  await sessions.create({ id: "a", cwd: "/x" })
  expect(await codeOf(sessions.create({ id: "a" }))).toBe("exists")
  await sessions.openOrCreate("a")
  await sessions.delete("a")
  expect(await codeOf(sessions.delete("a"))).toBe("not_found")
  expect(told).toEqual([
    ["create", "a", "/x"],
    ["delete", "a"],
  ])
  expect(failed).toEqual([
    ["create", "thrown"],
    ["delete", "rejected"],
  ])
})

// ---- signals -------------------------------------------------------------------------------------------------------------------

test("a signal that has fired stops every call before it does anything", async () => {
  const { sessions, storage } = two()
  const session = await sessions.create({ id: "a" })
  const { ids } = await session.append(user("hello"))
  const signal = AbortSignal.abort()
  const id = ids[0] as string
  const calls = [
    () => sessions.create({ id: "b", signal }),
    () => sessions.open("a", { signal }),
    () => sessions.openOrCreate("c", { signal }),
    () => sessions.info("a", { signal }),
    () => sessions.list({ signal }),
    () => sessions.rename("a", "x", { signal }),
    () => sessions.move("a", { cwd: "/x", signal }),
    () => sessions.delete("a", { signal }),
    () => sessions.continueRecent({ cwd: "/x", signal }),
    () => sessions.pointers.set("p", { session: "a" }, { signal }),
    () => session.append(user("late"), { signal }),
    () => session.context({ signal }),
    () => session.messages({ signal }),
    () => session.entry(id, { signal }),
    () => session.tree({ signal }),
    () => session.info({ signal }),
    () => session.parts({ signal }),
    () => session.label(id, "x", { signal }),
    () => session.branch(id, { signal }),
    () => session.flush({ signal }),
    () => session.turn(() => undefined, { signal }),
    async () => {
      for await (const _ of session.entries({}, { signal })) break
    },
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("aborted")
  expect(await storedLines(storage, "a")).toHaveLength(2)
  expect(await storage.head("b")).toBeUndefined()
})

test("whoever stops waiting for a session to open stops nobody else", async () => {
  const { sessions: writer, storage } = two()
  await writer.create({ id: "a" })
  const faulty = createFaultyStorage(storage)
  const sessions = createSessions({ storage: faulty })
  const release = faulty.hold("head")
  const impatient = new AbortController()
  const one = sessions.open("a", { signal: impatient.signal })
  const other = sessions.open("a")
  impatient.abort()
  expect(await codeOf(one)).toBe("aborted")
  release()
  expect((await other).id).toBe("a")
  await (await other).close()
  // The last one who waited ends the opening; the next opens anew.
  const again = faulty.hold("head")
  const gone = new AbortController()
  const third = sessions.open("a", { signal: gone.signal })
  gone.abort()
  expect(await codeOf(third)).toBe("aborted")
  again()
  expect((await sessions.open("a")).id).toBe("a")
})

// ---- helpers -------------------------------------------------------------------------------------------------------------------

function two(o: { readonly persistAfter?: "create" | "user" } = {}) {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  return {
    storage,
    sessions: createSessions({ storage, ...o }),
    elsewhere: createSessions({ storage: createMemoryStorage({ location }), ...o }),
  }
}

async function expectClosed(session: Session): Promise<void> {
  const calls = [
    () => session.append(user("late")),
    () => session.turn(() => undefined),
    () => session.context(),
    () => session.messages(),
    () => session.entry("e"),
    () => session.tree(),
    () => session.branch("e"),
    () => session.resetLeaf(),
    () => session.branchWithSummary(null, "s"),
    () => session.label("e", "x"),
    () => session.tombstone("e"),
    () => session.edit("e", null),
    () => session.title("x"),
    () => session.metadata("k", 1),
    () => session.compact({ summarize: async () => "s" }),
    () => session.info(),
    () => session.parts(),
    () => session.flush(),
    async () => {
      for await (const _ of session.entries()) break
    },
    async () => session.on("appended", () => undefined),
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("closed")
}

async function keys(storage: SessionStorage): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.docs.list()) all.push(key)
  return all
}
