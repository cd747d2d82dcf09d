import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, createWriter, storedIds, storedLines, user } from "../../test/writers.ts"

test("a failing put of a blob fails its own append and those queued behind it, and nothing is written", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  storage.fail("put", "quota")
  const outcomes = await Promise.all([
    session.append(user("a", "a")).then(({ ids }) => ids),
    codeOf(session.append(user("long ".repeat(100), "b"))),
    codeOf(session.append(user("c", "c"))),
  ])
  expect(outcomes).toEqual([["a"], "quota", "quota"])
  await session.append(user("long ".repeat(100), "d"))
  expect(await storedIds(location)).toEqual(["a", "d"])
  const lines = await storedLines(createMemoryStorage({ location }))
  expect(lines[2]).toContain("blob:sha256:")
})

test("a line is written only after its blobs, whatever else is written meanwhile", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  const releaseAppend = storage.hold("append")
  const releasePut = storage.hold("put")
  const made = [session.append(user("a", "a")), session.append(user("b", "b"))]
  made.push(session.append(user("long ".repeat(100), "c")), session.append(user("d", "d")))
  releaseAppend()
  await made[1]
  releasePut()
  await Promise.all(made)
  expect(await storedIds(location)).toEqual(["a", "b", "c", "d"])
  const lines = await storedLines(createMemoryStorage({ location }))
  expect(lines[3]).toContain("blob:sha256:")
  expect(lines[3]).not.toContain("long ")
})

test("a put whose answer is lost is repeated, and at last fails its append with `unavailable`: nothing of it is in the log", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  storage.fail("put", "response lost")
  await session.append(user("long ".repeat(100), "a"))
  storage.fail("put", "request lost", "response lost", "request lost")
  expect(await codeOf(session.append(user("longer ".repeat(100), "b")))).toBe("unavailable")
  await session.flush()
  await session.append(user("longer ".repeat(100), "b"))
  expect(await storedIds(location)).toEqual(["a", "b"])
})

test("a put that fails after its append was withdrawn fails no other append", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location, { blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("put")
  storage.fail("put", "quota")
  const controller = new AbortController()
  const withdrawn = codeOf(session.append(user("long ".repeat(100), "a"), { signal: controller.signal }))
  await Promise.resolve()
  controller.abort()
  expect(await withdrawn).toBe("aborted")
  const other = session.append(user("b", "b"))
  release()
  await other
  expect(await storedIds(location)).toEqual(["b"])
})
