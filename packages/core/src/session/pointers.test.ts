import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"

test("a pointer can be set, read, set again and deleted", async () => {
  const pointers = pointersIn(createMemoryStorage())
  expect(await pointers.get("terminal-1")).toBeUndefined()
  await pointers.set("terminal-1", { session: "a", cwd: "/x" })
  expect(await pointers.get("terminal-1")).toEqual({ session: "a", cwd: "/x" })
  await pointers.set("terminal-1", { session: "b" })
  expect(await pointers.get("terminal-1")).toEqual({ session: "b" })
  await pointers.delete("terminal-1")
  await pointers.delete("terminal-1")
  expect(await pointers.get("terminal-1")).toBeUndefined()
})

test("pointer names and targets are checked", async () => {
  const pointers = pointersIn(createMemoryStorage())
  for (const name of ["", "../x", "a/b", "a.b", "-a", "a".repeat(49), "a b", undefined as never, 5 as never]) {
    expect(await codeOf(pointers.get(name))).toBe("invalid")
    expect(await codeOf(pointers.set(name, { session: "a" }))).toBe("invalid")
    expect(await codeOf(pointers.delete(name))).toBe("invalid")
  }
  await pointers.set("a".repeat(48), { session: "a" })
  for (const pointer of [{ session: "../x" }, { session: 5 as never }, { session: "a", cwd: 5 as never }])
    expect(await codeOf(pointers.set("p", pointer))).toBe("invalid")
})

test("of two concurrent sets of a pointer, the last one wins", async () => {
  const storage = createMemoryStorage()
  const pointers = pointersIn(storage)
  await Promise.all(Array.from({ length: 8 }, (_, n) => pointers.set("p", { session: `s${n}` })))
  expect((await pointers.get("p"))?.session).toMatch(/^s\d$/)
})

test("a damaged pointer points nowhere and can be set again", async () => {
  const storage = createMemoryStorage()
  const pointers = pointersIn(storage)
  for (const text of ["", "not json", "null", "[]", "{}", '{"session":5}']) {
    const doc = await storage.docs.get("pointer.p")
    await storage.docs.put("pointer.p", text, { expect: doc?.version ?? null })
    expect(await pointers.get("p")).toBeUndefined()
  }
  await pointers.set("p", { session: "a" })
  expect(await pointers.get("p")).toEqual({ session: "a" })
})

test("a storage that answers every write with a conflict is reported, not retried forever", async () => {
  const inner = createMemoryStorage()
  const put = async (): Promise<never> => Promise.reject(new StorageError("conflict", "Always."))
  expect(await codeOf(pointersIn({ ...inner, docs: { ...inner.docs, put } }).set("p", { session: "a" }))).toBe(
    "conflict",
  )
})

function pointersIn(storage: SessionStorage) {
  return createSessions({ storage }).pointers
}
