import { createMemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, createWriter, note, storedIds, twoWriters, user } from "../../test/writers.ts"

test("a repeated append with the same entry id is written once", async () => {
  const location = createMemoryLocation()
  const { sessions } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  await session.append(user("a", "a"))
  expect(await session.append(user("a", "a"))).toMatchObject({ ids: ["a"], head: { next: 2 } })
  expect(await session.append([user("a", "a"), user("b", "b")])).toMatchObject({ ids: ["a", "b"] })
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("a repeated append waits for the one that is pending", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const first = session.append(user("a", "a"))
  let settled = false
  const again = session.append(user("a", "a")).finally(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(settled).toBe(false)
  release()
  expect(await Promise.all([first, again])).toMatchObject([{ ids: ["a"] }, { ids: ["a"] }])
  expect(await storedIds(location)).toEqual(["a"])
})

test("a repeated append fails with the one that is pending", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  storage.fail("append", "quota")
  const first = codeOf(session.append(user("a", "a")))
  const again = codeOf(session.append(user("a", "a")))
  expect(await first).toBe("quota")
  expect(await again).toBe("quota")
  expect(await storedIds(location)).toEqual([])
})

test("a repeated append does not wait for later appends of other callers", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const first = session.append(user("a", "a"))
  const again = session.append(user("a", "a"))
  await Promise.resolve()
  const release = storage.hold("append")
  const later = session.append(user("b", "b"))
  expect((await again).ids).toEqual(["a"])
  release()
  await Promise.all([first, later])
})

test("aborting a repeated append does not withdraw the original one", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const controller = new AbortController()
  const before = session.append(user("a", "a"))
  const first = session.append(user("b", "b"))
  const again = codeOf(session.append(user("b", "b"), { signal: controller.signal }))
  controller.abort()
  expect(await again).toBe("aborted")
  release()
  await Promise.all([before, first])
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("an append that repeats a pending entry and adds another is complete when both are written", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const first = session.append(user("a", "a"))
  const both = session.append([user("a", "a"), user("b", "b")])
  release()
  expect(await both).toMatchObject({ ids: ["a", "b"], head: { next: 3 } })
  expect((await first).ids).toEqual(["a"])
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("an append that repeats an entry and adds another reports that the session has diverged", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("two", "b"))
  const result = await one.append([user("start", "0"), user("one", "a")])
  expect(result).toMatchObject({ ids: ["0", "a"], diverged: { leaf: "a", otherLeaf: "b" } })
})

test("an append that repeats an entry and adds one that the queue refuses at once is rejected, and the session goes on", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { maxSessionBytes: 1_000 })
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const first = session.append(note("n", "n"))
  const refused = codeOf(session.append([note("n", "n"), user("x".repeat(2_000), "u")]))
  release()
  await first
  expect(await refused).toBe("too_large")
  expect(await session.append([note("n", "n"), user("y", "v")])).toMatchObject({ ids: ["n", "v"] })
  expect(await storedIds(location)).toEqual(["n", "v"])
})

test("aborting an append that repeats an entry and adds another withdraws the new one, and says that it was not sent", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const controller = new AbortController()
  const first = session.append(user("a", "a"))
  const both = session.append([user("a", "a"), user("b", "b")], { signal: controller.signal })
  controller.abort()
  await expect(both).rejects.toMatchObject({ code: "aborted", sent: false })
  release()
  await first
  expect(await storedIds(location)).toEqual(["a"])
})
