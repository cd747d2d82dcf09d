import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, createWriter, note, storedEntries, storedIds, user } from "../../test/writers.ts"
import { createSessions } from "../session/repository.ts"

test("a signal aborted before append gives `aborted`, and nothing is in memory", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  const error = await session.append(user("a"), { signal: AbortSignal.abort() }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: "aborted", sent: false })
  expect(session.leafId).toBeNull()
})

test("before its write is sent, a signal withdraws an append and those queued behind it", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const controller = new AbortController()
  const inFlight = session.append(user("a", "a"))
  const withdrawn = codeOf(session.append(user("b", "b"), { signal: controller.signal }))
  const behind = codeOf(session.append(user("c", "c")))
  controller.abort()
  expect(await withdrawn).toBe("aborted")
  expect(await behind).toBe("aborted")
  expect(session.leafId).toBe("a")
  const after = session.append(user("d", "d"))
  release()
  await Promise.all([inFlight, after])
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["a", null],
    ["d", "a"],
  ])
})

test("after its write was sent, a signal ends the wait, and the write completes", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const controller = new AbortController()
  const appended = session.append(user("a", "a"), { signal: controller.signal }).catch((error: unknown) => error)
  controller.abort()
  expect(await appended).toMatchObject({ code: "aborted", sent: true })
  expect(session.leafId).toBe("a")
  release()
  await session.flush()
  expect(await storedIds(location)).toEqual(["a"])
})

test("close waits for pending appends", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("append")
  const appended = [session.append(user("a", "a")), session.append(user("b", "b"))]
  let closed = false
  const closing = session.close().finally(() => (closed = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(closed).toBe(false)
  release()
  await closing
  await Promise.all(appended)
  expect(await storedIds(location)).toEqual(["a", "b"])
  expect(await codeOf(session.append(user("c")))).toBe("closed")
})

test("flush waits for the appends before it, not for later ones", async () => {
  const { sessions, storage } = createWriter()
  const session = await sessions.create({ id: "s" })
  const first = session.append(user("a"))
  const flushed = session.flush()
  await Promise.resolve()
  const release = storage.hold("append")
  const later = session.append(user("b"))
  await flushed
  expect(session.head?.next).toBe(2)
  release()
  await Promise.all([first, later])
})

test("an append from within an event listener is written like any other", async () => {
  const location = createMemoryLocation()
  const { sessions, storage } = createWriter(location)
  const session = await sessions.create({ id: "s" })
  const made: Promise<unknown>[] = []
  const off = session.on("appended", () => {
    off()
    made.push(session.append(note("from appended", "n1")))
  })
  session.on("rolled_back", () => made.push(session.append(note("from rolled_back", "n2"))))
  await session.append(user("a", "a"))
  await Promise.all(made)
  storage.fail("append", "quota")
  await codeOf(session.append(user("b", "b")))
  await Promise.all(made)
  expect(await storedIds(location)).toEqual(["a", "n1", "n2"])
})

test("after any number of ticks, an append that a signal withdrew is not written, and the next one is", async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const location = createMemoryLocation()
    const storage = createMemoryStorage({ location })
    const capabilities = { ...storage.capabilities, durability: "disk" as const }
    const session = await createSessions({ storage: { ...storage, capabilities } }).create({ id: "s" })
    const controller = new AbortController()
    const first = session.append(user("a", "a"), { signal: controller.signal }).catch((error: unknown) => error)
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
    controller.abort()
    await session.append(user("b", "b"))
    const withdrawn = ((await first) as { sent?: boolean }).sent === false
    expect(await storedIds(location), `after ${ticks} ticks`).toEqual(withdrawn ? ["b"] : ["a", "b"])
  }
})

test("withdrawing an append that is about to be rejected withdraws no later one", async () => {
  const { sessions, storage } = createWriter(undefined, { maxSessionBytes: 2_000 })
  const session = await sessions.create({ id: "s" })
  const release = storage.hold("head")
  const controller = new AbortController()
  const large = codeOf(session.append(user("x".repeat(3_000)), { signal: controller.signal }))
  controller.abort()
  const small = session.append(user("b", "b"))
  release()
  expect(await large).toBe("aborted")
  expect(await small).toMatchObject({ ids: ["b"] })
})
