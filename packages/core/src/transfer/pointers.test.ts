import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf } from "../../test/writers.ts"
import { createSessions } from "../session/repository.ts"
import { StorageError } from "../storage/errors.ts"
import { deletePointer, getPointer, setPointer } from "./index.ts"

test("a pointer can be set, read, set again and deleted", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  expect(await getPointer(sessions, "terminal-1")).toBeUndefined()
  await setPointer(sessions, "terminal-1", { session: "a", cwd: "/x" })
  expect(await getPointer(sessions, "terminal-1")).toEqual({ session: "a", cwd: "/x" })
  await setPointer(sessions, "terminal-1", { session: "b" })
  expect(await getPointer(sessions, "terminal-1")).toEqual({ session: "b" })
  await deletePointer(sessions, "terminal-1")
  await deletePointer(sessions, "terminal-1")
  expect(await getPointer(sessions, "terminal-1")).toBeUndefined()
})

test("pointer names and targets are checked", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const name of ["", "../x", "a/b", "a.b", "-a", "a".repeat(49), "a b", undefined as never, 5 as never]) {
    expect(await codeOf(getPointer(sessions, name))).toBe("invalid")
    expect(await codeOf(setPointer(sessions, name, { session: "a" }))).toBe("invalid")
    expect(await codeOf(deletePointer(sessions, name))).toBe("invalid")
  }
  await setPointer(sessions, "a".repeat(48), { session: "a" })
  for (const pointer of [{ session: "../x" }, { session: 5 as never }, { session: "a", cwd: 5 as never }])
    expect(await codeOf(setPointer(sessions, "p", pointer))).toBe("invalid")
})

test("of two concurrent sets of a pointer, the last one wins", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  await Promise.all(Array.from({ length: 8 }, (_, n) => setPointer(sessions, "p", { session: `s${n}` })))
  expect((await getPointer(sessions, "p"))?.session).toMatch(/^s\d$/)
})

test("a damaged pointer points nowhere and can be set again", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  for (const text of ["", "not json", "null", "[]", "{}", '{"session":5}']) {
    const doc = await storage.docs.get("pointer.p")
    await storage.docs.put("pointer.p", text, { expect: doc?.version ?? null })
    expect(await getPointer(sessions, "p")).toBeUndefined()
  }
  await setPointer(sessions, "p", { session: "a" })
  expect(await getPointer(sessions, "p")).toEqual({ session: "a" })
})

test("a storage that answers every write with a conflict is reported, not retried forever", async () => {
  const inner = createMemoryStorage()
  const put = async (): Promise<never> => Promise.reject(new StorageError("conflict", "Always."))
  expect(
    await codeOf(
      setPointer(createSessions({ storage: { ...inner, docs: { ...inner.docs, put } } }), "p", { session: "a" }),
    ),
  ).toBe("conflict")
})
