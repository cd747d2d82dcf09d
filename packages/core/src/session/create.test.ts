import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { twoRepositories } from "../../test/repositories.ts"
import { codeOf, storedLines, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"

test("a new session has the given fields in its header and can be opened elsewhere at once", async () => {
  const { sessions, elsewhere } = twoRepositories()
  const given = {
    cwd: "/project",
    title: "A title",
    source: "cron" as const,
    kind: "langgraph",
    cronJobId: "nightly",
    systemPromptOverride: "Be brief.",
    parentSession: { id: "parent", entryId: "e1" },
  }
  const session = await sessions.create(given)
  expect(session.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(session.header).toMatchObject({ type: "session", format: "@sessions", version: 4, id: session.id, ...given })
  expect((await elsewhere.open(session.id)).header).toEqual(session.header)
})

test("changing the passed objects after draft changes neither the unwritten header nor the log", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const parentSession = { id: "parent", entryId: "e1" }
  const draft = await sessions.draft({ id: "s", parentSession })
  parentSession.id = "another"
  const session = await draft.append(user("hello"))
  expect(session?.header.parentSession).toEqual({ id: "parent", entryId: "e1" })
  const [header = ""] = await storedLines(storage)
  expect(JSON.parse(header)).toMatchObject({ parentSession: { id: "parent", entryId: "e1" } })
})

test("creating a taken id fails with `exists`, in this repository and in another, open or closed", async () => {
  const { sessions, elsewhere } = twoRepositories()
  const session = await sessions.create({ id: "a" })
  expect(await codeOf(sessions.create({ id: "a" }))).toBe("exists")
  expect(await codeOf(elsewhere.create({ id: "a" }))).toBe("exists")
  await session.close()
  expect(await codeOf(sessions.create({ id: "a" }))).toBe("exists")
})

test("of two concurrent creates of one id in one repository, one succeeds", async () => {
  const { sessions } = twoRepositories()
  const made = await Promise.allSettled([sessions.create({ id: "a" }), sessions.create({ id: "a" })])
  expect(made.map(({ status }) => status)).toEqual(["fulfilled", "rejected"])
})

test("with ulidsOnly, other ids are invalid", async () => {
  const sessions = createSessions({ storage: createMemoryStorage(), ulidsOnly: true })
  expect(await codeOf(sessions.create({ id: "mine" }))).toBe("invalid")
  expect(await codeOf(sessions.open("mine"))).toBe("invalid")
  const { id } = await sessions.create()
  expect(await codeOf(sessions.create({ id }))).toBe("exists")
})

test("an invalid header, or one that is too long for a line, is rejected before anything is written", async () => {
  const { sessions, storage } = twoRepositories()
  expect(await codeOf(sessions.create({ id: "a", source: "other" as never }))).toBe("invalid")
  expect(await codeOf(sessions.create({ id: "a", parentSession: {} as never }))).toBe("invalid")
  for (const kind of ["", 7, null])
    expect(await codeOf(sessions.create({ id: "a", kind: kind as never }))).toBe("invalid")
  for (const metadata of [[], null, { x: undefined }])
    expect(await codeOf(sessions.create({ id: "a", metadata: metadata as never }))).toBe("invalid")
  for (const entries of [{}, null, [7], [user("hello"), { type: "message" }]])
    expect(await codeOf(sessions.create({ id: "a", entries: entries as never }))).toBe("invalid")
  const small = createMemoryStorage({ limits: { maxLineBytes: 1_000 } })
  const long = { id: "a", systemPromptOverride: "x".repeat(1_000) }
  expect(await codeOf(createSessions({ storage: small }).create(long))).toBe("too_large")
  expect(await storage.head("a")).toBeUndefined()
  expect(await small.head("a")).toBeUndefined()
})

test("a create finds its own session after a lost response, and fails with `exists` if the session is another one", async () => {
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

test("eight concurrent calls that open or create one id, over two repositories, get one session", async () => {
  const { sessions, elsewhere, storage } = twoRepositories()
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? sessions : elsewhere).openOrCreate("a", { cwd: `/${n}` })),
  )
  expect(new Set(opened.map(({ header }) => header.cwd)).size).toBe(1)
  await Promise.all(opened.map((session, n) => session.append(user(`say ${n}`))))
  expect(await storedLines(storage, "a")).toHaveLength(9)
})

test("creating an id succeeds while another call looks for it and finds nothing", async () => {
  const { sessions } = twoRepositories()
  const [opened, made] = await Promise.allSettled([sessions.open("a"), sessions.create({ id: "a" })])
  expect(opened).toMatchObject({ status: "rejected", reason: { code: "not_found" } })
  expect(made.status).toBe("fulfilled")
})

test("a create finds its own session after a lost response, even if another writer has continued it", async () => {
  const storage = createMemoryStorage()
  let isFirst = true
  const append: SessionStorage["append"] = async (...call) => {
    const head = await storage.append(...call)
    if (!isFirst) return head
    isFirst = false
    await (await createSessions({ storage }).open("a")).append(user("theirs"))
    throw new StorageError("indeterminate", "The answer was lost.")
  }
  const session = await createSessions({ storage: { ...storage, append } }).create({ id: "a" })
  await session.append(user("mine"))
  expect(await storedLines(storage, "a")).toHaveLength(3)
})
