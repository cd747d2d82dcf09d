import { expect, test } from "vitest"
import { loseAnswer } from "./fake-store.ts"
import { lineOf, linesOf } from "./lines.ts"
import { openStorage, readLines } from "./open-storage.ts"

test("after deletion and creation an old head of the same length is a conflict, and nothing of the old session is found", async () => {
  const { storage, bucket } = openStorage()
  const old = await storage.append("a", linesOf(3), { expect: 0, info: "old" })
  await storage.docs.put("sessions/a/x", "old", { expect: null })
  const other = openStorage(bucket).storage
  await other.delete("a")
  const created = await other.append("a", linesOf(3, 50), { expect: 0 })
  expect(created.log).not.toBe(old.log)
  await expect(storage.append("a", [lineOf(3)], { expect: old })).rejects.toMatchObject({ code: "conflict" })
  expect(await readLines(storage, "a")).toEqual(linesOf(3, 50))
  expect(await storage.docs.get("sessions/a/x")).toBeUndefined()
  expect((await storage.head("a"))?.info).toBeUndefined()
})

test("documents disappear with their session, even if none of their objects can be removed", async () => {
  const { storage, store, bucket } = openStorage()
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.docs.put("sessions/a/x", "old", { expect: null })
  store.fault = (call, proceed) => (call.method === "delete" ? loseAnswer() : proceed())
  await storage.delete("a")
  expect([...bucket.objects.keys()].some((key) => key.startsWith("session-docs/"))).toBe(true)
  const other = openStorage(bucket).storage
  for (const expected of [[], ["sessions/a/y"]]) {
    const keys: string[] = []
    for await (const key of other.docs.list()) keys.push(key)
    expect(keys).toEqual(expected)
    expect(await other.docs.get("sessions/a/x")).toBeUndefined()
    if (expected.length > 0) continue
    await other.append("a", linesOf(1), { expect: 0 })
    await other.docs.put("sessions/a/y", "new", { expect: null })
  }
  expect((await other.collect()).objects).toBe(1)
  expect((await other.docs.get("sessions/a/y"))?.text).toBe("new")
})

test("a document is written to the current session, even if this process has cached an earlier one of the same id", async () => {
  const { storage, bucket } = openStorage()
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.head("a")
  const other = openStorage(bucket).storage
  await other.delete("a")
  await other.append("a", linesOf(1, 50), { expect: 0 })
  await storage.docs.put("sessions/a/x", "kept", { expect: null })
  expect((await other.docs.get("sessions/a/x"))?.text).toBe("kept")
})
