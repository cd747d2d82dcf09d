import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { twoRepositories } from "../../test/repositories.ts"
import { codeOf, contextTexts, storedLines, user } from "../../test/writers.ts"
import { httpStatus } from "../format/errors.ts"
import type { Header } from "../format/header.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import {
  continueRecent,
  copySession,
  forkSession,
  migrateSession,
  sessionTree,
  setPointer,
  verifySession,
} from "../transfer/index.ts"

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
  ":a",
  "a@",
  "a..b",
  "ä",
  "a b",
  "a\n",
]

test("an id that could be a path or a key, or is empty, is invalid in every call, before any lookup", async () => {
  const { sessions, storage } = twoRepositories()
  for (const id of [...HOSTILE, undefined as never, 5 as never, {} as never]) {
    const calls = [
      () => sessions.open(id),
      () => sessions.openOrCreate(id),
      () => sessions.info(id),
      () => sessions.rename(id, "x"),
      () => sessions.move(id, { cwd: "/x" }),
      () => sessions.delete(id),
      () => forkSession(sessions, id),
      () => verifySession(sessions, id),
      () => migrateSession(sessions, id),
      () => copySession(sessions, id, storage),
      ...(id === undefined ? [] : [() => sessions.create({ id })]),
    ]
    for (const call of calls) expect(await codeOf(call())).toBe("invalid")
  }
  const error: unknown = await sessions.open("../x").catch((reason: unknown) => reason)
  expect(httpStatus(error)).toBe(400)
})

test("every call that needs a session fails with `not_found` for an unknown id", async () => {
  const { sessions } = twoRepositories()
  const calls = [
    () => sessions.open("nobody"),
    () => sessions.info("nobody"),
    () => sessions.rename("nobody", "x"),
    () => sessions.move("nobody", { cwd: "/x" }),
    () => sessions.delete("nobody"),
    () => forkSession(sessions, "nobody"),
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("not_found")
  // The id is free again.
  await sessions.create({ id: "nobody" })
})

test("rename and move need no open session, and an open session sees them", async () => {
  const { sessions } = twoRepositories()
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

test("delete removes the log and its documents, returns the freed size, and frees the id", async () => {
  const { sessions, storage, elsewhere } = twoRepositories()
  const session = await sessions.create({ id: "a", systemPromptOverride: "x".repeat(9_000) })
  await session.append(user("hello"))
  await storage.docs.put("sessions/a/notes", "{}", { expect: null })
  await sessions.list()
  const { bytes } = (await storage.head("a")) as { bytes: number }
  expect(await sessions.delete("a")).toEqual({ bytes, parts: 1, purged: true })
  expect(await keys(storage)).toEqual([])
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(session.info())).toBe("not_found")
  expect(await codeOf(sessions.delete("a"))).toBe("not_found")
  expect(await codeOf(sessions.open("a"))).toBe("not_found")
  const again = await sessions.create({ id: "a" })
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(session.info())).toBe("not_found")
  await again.append(user("anew"))
  await session.close()
  expect(await keys(storage)).toEqual([])
  expect(await contextTexts(await elsewhere.open("a"))).toEqual(["anew"])
  expect(await codeOf(elsewhere.delete("b"))).toBe("not_found")
})

test("delete waits for the appends before it", async () => {
  const faulty = createFaultyStorage(createMemoryStorage())
  const sessions = createSessions({ storage: faulty })
  const session = await sessions.create({ id: "a" })
  const release = faulty.hold("append")
  const appended = session.append(user("hello"))
  const deleted = sessions.delete("a")
  await new Promise((resolve) => setImmediate(resolve))
  release()
  await appended
  expect((await deleted).parts).toBe(1)
  expect(await faulty.head("a")).toBeUndefined()
})

test("closing a session that was deleted and created again leaves the new session's documents alone", async () => {
  const { sessions, elsewhere, storage } = twoRepositories()
  const big = { id: "a", systemPromptOverride: "x".repeat(9_000) }
  const session = await sessions.create(big)
  await session.append(user("old"))
  await elsewhere.delete("a")
  const anew = await elsewhere.create(big)
  await anew.append(user("new"))
  await anew.close()
  const kept = await storage.docs.get("sessions/a/info")
  expect(kept?.text).toContain("new")
  await session.close()
  expect(await storage.docs.get("sessions/a/info")).toEqual(kept)
})

test("after another repository deletes a session, its handles fail with `not_found` and its id is free", async () => {
  const { sessions, elsewhere } = twoRepositories()
  const session = await sessions.create({ id: "a" })
  await elsewhere.delete("a")
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  expect(await codeOf(sessions.info("a"))).toBe("not_found")
  const again = await sessions.create({ id: "a" })
  await again.append(user("anew"))
  expect(await codeOf(session.append(user("late")))).toBe("not_found")
  await session.close()
  expect(await contextTexts(await sessions.open("a"))).toEqual(["anew"])
})

test("create and delete hooks run; one that throws or rejects is reported and stops nothing", async () => {
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

test("an aborted signal stops every call before it does anything", async () => {
  const { sessions, storage } = twoRepositories()
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
    () => continueRecent(sessions, { cwd: "/x", signal }),
    () => setPointer(sessions, "p", { session: "a" }, { signal }),
    () => session.append(user("late"), { signal }),
    () => session.context({ signal }),
    () => session.messages({ signal }),
    () => session.entry(id, { signal }),
    () => sessionTree(session, { signal }),
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

test("cancelling a flush leaves its appends to complete", async () => {
  const faulty = createFaultyStorage(createMemoryStorage())
  const session = await createSessions({ storage: faulty }).create({ id: "a" })
  const release = faulty.hold("append")
  const appended = session.append(user("hello"))
  const impatient = new AbortController()
  const flushed = session.flush({ signal: impatient.signal })
  impatient.abort()
  expect(await codeOf(flushed)).toBe("aborted")
  release()
  await appended
})

async function keys(storage: SessionStorage): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.docs.list()) all.push(key)
  return all
}
