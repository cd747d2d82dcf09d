import { branchWithSummary, compact } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { twoRepositories } from "../../test/repositories.ts"
import { assistant, codeOf, contextTexts, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"
import {
  continueRecent,
  copySession,
  deletePointer,
  exportSession,
  forkSession,
  getPointer,
  importSession,
  migrateSession,
  sessionTree,
  setPointer,
  verifySession,
} from "../transfer/index.ts"
import type { Session } from "./types.ts"
import type { Sessions } from "./repository-types.ts"

test("opening an id does not fail because a concurrent create of it fails", async () => {
  const { sessions, elsewhere } = twoRepositories()
  await elsewhere.create({ id: "a", cwd: "/theirs" })
  const [made, opened] = await Promise.allSettled([sessions.create({ id: "a" }), sessions.open("a")])
  expect(made).toMatchObject({ status: "rejected", reason: { code: "exists" } })
  expect(opened).toMatchObject({ status: "fulfilled", value: { header: { cwd: "/theirs" } } })
})

test("all handles of a repository on one id share one session", async () => {
  const { sessions } = twoRepositories()
  const one = await sessions.create({ id: "a" })
  const [other, third] = await Promise.all([sessions.open("a"), sessions.openOrCreate("a")])
  const appended = one.append(user("hello"))
  expect(other.leafId).toBe(one.leafId)
  expect(third.leafId).toBe(one.leafId)
  await appended
  expect(other.head).toEqual(one.head)
  expect(await contextTexts(third)).toEqual(["hello"])
})

test("closing a handle closes it for every call, and closes no other handle", async () => {
  const { sessions } = twoRepositories()
  const one = await sessions.create({ id: "a" })
  const other = await sessions.open("a")
  await one.close()
  await one.close()
  await expectClosed(one)
  await other.append(user("hello"))
  expect(await contextTexts(other)).toEqual(["hello"])
})

test("the last close waits for the appends, flushes them and releases the session", async () => {
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
  await appended
  expect(storage.counted.syncs).toBe(1)
  // Nothing was written, so there is nothing to flush.
  await (await sessions.open("a")).close()
  expect(storage.counted.syncs).toBe(1)
})

test("a sync that the storage cannot do now is asked for again, by `flush` and by `close`", async () => {
  let refused = 0
  const memory = createMemoryStorage()
  const sync = async (): Promise<void> => {
    if (refused++ === 0) throw new StorageError("unavailable", "The connection was lost.")
  }
  const sessions = createSessions({
    storage: { ...memory, capabilities: { ...memory.capabilities, sync: true }, sync },
  })
  const session = await sessions.create({ id: "a" })
  await session.append(user("hello"))
  await session.flush()
  expect(refused).toBe(2)
  refused = 0
  await session.close()
  expect(refused).toBe(2)
})

test("an opening that ends because the session is deleted, or the repository closed, is not `aborted`", async () => {
  const storage = createMemoryStorage()
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  let releaseDelete = (): void => undefined
  const gate = new Promise<void>((resolve) => (releaseDelete = resolve))
  const faulty = createFaultyStorage({
    ...storage,
    async delete(...args) {
      await gate
      return storage.delete(...args)
    },
  })
  const sessions = createSessions({ storage: faulty })
  await (await sessions.create({ id: "a", entries: [user("old")] })).close()
  const deleting = sessions.delete("a")
  await turn()
  const releaseHead = faulty.hold("head")
  const opening = codeOf(sessions.open("a"))
  const resumed = sessions.openOrCreate("a")
  await turn()
  releaseDelete()
  await deleting
  releaseHead()
  expect(await opening).toBe("not_found")
  const made = await resumed
  expect(await contextTexts(made)).toEqual([])
  await made.close()
  const releaseRead = faulty.hold("read")
  const late = codeOf(sessions.open("a"))
  await turn()
  const closed = sessions.close()
  releaseRead()
  await closed
  expect(await late).toBe("closed")
})

test("opening a session while its last handle closes gives the same session", async () => {
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
  const releaseAgain = faulty.hold("append")
  const appending = again.append(assistant("second"))
  const third = await sessions.open("a")
  expect(third.leafId).toBe(again.leafId)
  releaseAgain()
  expect((await appending).diverged).toBeUndefined()
  expect(await contextTexts(again)).toEqual(["first", "second"])
})

test("closing the repository closes every session with its queued appends; later calls fail with `closed`", async () => {
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
  for (const call of callsOf(sessions)) expect(await codeOf(call())).toBe("closed")
})

test("after close no call of the repository reaches the storage", async () => {
  const storage = { ...createMemoryStorage(), [Symbol.asyncDispose]: async () => undefined }
  const sessions = createSessions({ storage })
  await (await sessions.create({ id: "a" })).append(user("hello"))
  await setPointer(sessions, "p", { session: "a" })
  await sessions.close()
  for (const call of callsOf(sessions)) expect(await codeOf(call())).toBe("closed")
})

test("a failing flush fails the close, which still closes every session", async () => {
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

test("cancelling one wait for an opening cancels no other", async () => {
  const { sessions: writer, storage } = twoRepositories()
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
})

test("when the last wait is cancelled, the opening is aborted and the next call opens again", async () => {
  const { sessions: writer, storage } = twoRepositories()
  await writer.create({ id: "a" })
  const signals: (AbortSignal | undefined)[] = []
  let hold = true
  const slow: SessionStorage = {
    ...storage,
    head: async (id, o) => {
      signals.push(o?.signal)
      return hold ? new Promise(() => undefined) : storage.head(id, o)
    },
  }
  const sessions = createSessions({ storage: slow })
  const [one, other] = [new AbortController(), new AbortController()]
  const opening = [sessions.open("a", { signal: one.signal }), sessions.open("a", { signal: other.signal })]
  one.abort()
  expect(await codeOf(opening[0] as Promise<Session>)).toBe("aborted")
  expect(signals.map((signal) => signal?.aborted)).toEqual([false])
  other.abort()
  expect(await codeOf(opening[1] as Promise<Session>)).toBe("aborted")
  expect(signals.map((signal) => signal?.aborted)).toEqual([true])
  hold = false
  expect((await sessions.open("a")).id).toBe("a")
})

/** Every method of a repository but `close`, called. */
function callsOf(sessions: Sessions): (() => Promise<unknown>)[] {
  return [
    () => sessions.create(),
    () => sessions.open("a"),
    () => sessions.openOrCreate("a"),
    () => sessions.info("a"),
    () => sessions.list(),
    () => sessions.rename("a", "x"),
    () => sessions.move("a", { cwd: "/x" }),
    () => sessions.delete("a"),
    () => forkSession(sessions, "a"),
    () => continueRecent(sessions, { cwd: "/x" }),
    () => importSession(sessions, "{}"),
    async () => {
      for await (const _ of exportSession(sessions, "a")) break
    },
    () => copySession(sessions, "a", createMemoryStorage()),
    () => migrateSession(sessions, "a"),
    () => verifySession(sessions, "a"),
    () => setPointer(sessions, "p", { session: "a" }),
    () => getPointer(sessions, "p"),
    () => deletePointer(sessions, "p"),
  ]
}

async function expectClosed(session: Session): Promise<void> {
  const calls = [
    () => session.append(user("late")),
    () => session.turn(() => undefined),
    () => session.context(),
    () => session.messages(),
    () => session.path(),
    () => session.entry("e"),
    () => sessionTree(session),
    () => session.branch("e"),
    () => session.resetLeaf(),
    () => branchWithSummary(session, null, "s"),
    () => session.label("e", "x"),
    () => session.tombstone("e"),
    () => session.edit("e", null),
    () => session.title("x"),
    () => session.metadata("k", 1),
    () => compact(session, { summarize: async () => "s" }),
    () => session.info(),
    () => session.parts(),
    () => session.flush(),
    () => session.refresh(),
    async () => {
      for await (const _ of session.entries()) break
    },
    async () => session.on("appended", () => undefined),
  ]
  for (const call of calls) expect(await codeOf(call())).toBe("closed")
}
