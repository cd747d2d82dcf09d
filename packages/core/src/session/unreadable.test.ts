/** A session whose head cannot be read hides no other session, and can be deleted. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, user } from "../../test/writers.ts"
import { collectBlobs } from "../storage/collect-blobs.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"
import { continueRecent } from "../transfer/index.ts"

test("`list` gives the other sessions, and the unreadable one with its error", async () => {
  const { sessions } = await withUnreadable()
  const page = await sessions.list()
  expect(page.sessions.map(({ id }) => id).toSorted()).toEqual(["a", "c"])
  expect(page.unreadable).toMatchObject([{ id: "b", error: { code: "corrupt", session: "b" } }])
})

test("`continueRecent` opens the newest session that can be read", async () => {
  const { sessions } = await withUnreadable()
  expect((await continueRecent(sessions, { cwd: "/x" })).id).toBe("c")
})

test("an unreadable row of a store that does not answer ends the listing", async () => {
  const { sessions } = await withUnreadable("unavailable", true)
  expect(await codeOf(sessions.list())).toBe("unavailable")
})

test("`collectBlobs` reads the other sessions, then rejects with the ids of all that are unreadable and removes nothing", async () => {
  const { storage } = await withUnreadable()
  const [kept, mentioned] = [await storage.blobs.put(new Uint8Array([1])), await storage.blobs.put(new Uint8Array([2]))]
  await storage.append("z", [`{"blob":"${mentioned}"}`], { expect: 0 })
  await expect(collectBlobs(storage, { olderThan: 0 })).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("unreadable sessions are unknown: b (") as string,
  })
  expect(await storage.blobs.has(kept)).toBe(true)
  expect(await collectBlobs(storage, { olderThan: 0, unreadable: ["b"] })).toEqual({ removed: 1, bytes: 1 })
  expect(await storage.blobs.has(mentioned)).toBe(true)
})

test("a session whose head cannot be read can be deleted", async () => {
  const { sessions } = await withUnreadable()
  expect(await sessions.delete("b")).toMatchObject({ purged: true })
  expect(await codeOf(sessions.delete("b"))).toBe("not_found")
  expect((await sessions.list()).unreadable).toEqual([])
})

test("a delete that left bytes is no `not_found` when it is repeated, until they are removed", async () => {
  const storage = createMemoryStorage()
  let purged = false
  const sessions = createSessions({ storage: { ...storage, delete: async () => ({ bytes: 0, parts: 0, purged }) } })
  expect(await sessions.delete("a")).toEqual({ bytes: 0, parts: 0, purged: false })
  purged = true
  expect(await codeOf(sessions.delete("a"))).toBe("not_found")
})

/** Sessions a, b and c, of which the head of b cannot be read. */
async function withUnreadable(code: "corrupt" | "unavailable" = "corrupt", isAway = false) {
  // In the past, so that every blob is old enough to be collected.
  const real = createMemoryStorage({ clock: () => 1 })
  const writer = createSessions({ storage: real })
  for (const id of ["a", "b", "c"]) await (await writer.create({ id, cwd: "/x" })).append(user(id))
  const error = new StorageError(code, "The head is damaged.", { session: "b" })
  const isUnreadable = async (id: string): Promise<boolean> => id === "b" && (await real.head(id)) !== undefined
  const storage: SessionStorage = {
    ...real,
    async head(id, o) {
      if (isAway || (await isUnreadable(id))) throw error
      return real.head(id, o)
    },
    async *list(o) {
      for await (const row of real.list(o)) yield (await isUnreadable(row.id)) ? { id: row.id, error } : row
    },
  }
  return { storage, sessions: createSessions({ storage }) }
}
