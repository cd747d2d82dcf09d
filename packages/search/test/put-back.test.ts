/** Logs that were put back to an older state, or repaired, after an index has read them: an older state keeps the identity of the log. */
import { createSessions, type NewEntry, type Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createMemoryIndex, createSearch, type Search } from "@sessions/search"
import { expect, test } from "vitest"

function world(): { readonly location: MemoryLocation; readonly open: () => Sessions; readonly search: Search } {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const open = (): Sessions => createSessions({ storage: createMemoryStorage({ location }) })
  return { location, open, search: createSearch({ storage, index: createMemoryIndex() }) }
}

function user(text: string, id: string): NewEntry {
  return { type: "message", id, message: { role: "user", content: text } }
}

async function found(search: Search, words: string): Promise<readonly string[]> {
  return (await search.search(words)).hits.map(({ entryId }) => entryId)
}

test("entries that came after an older state was put back are found, also under the ids of those that are gone", async () => {
  const { location, open, search } = world()
  const session = await open().create({ id: "s", entries: [user("first", "m1")] })
  const log = location.logs.get("s")
  const kept = log?.lines.length ?? 0
  await session.append([user("gone question", "m2"), user("gone answer", "m3")])
  expect(await found(search, "gone")).toEqual(["m3", "m2"])
  if (log !== undefined) log.lines.length = kept
  const now = await open().open("s")
  await now.append([user("new question", "m2"), user("new answer", "m3"), user("new end", "m4")])
  expect(await found(search, "gone")).toEqual([])
  expect(await found(search, "new")).toEqual(["m4", "m3", "m2"])
})

test("a damaged log in whose place an undamaged copy with as many lines was put is read again", async () => {
  const { location, open } = world()
  await open().create({ id: "s", entries: [user("word", "m1")] })
  const storage = createMemoryStorage({ location })
  let damaged = true
  const read: typeof storage.read = (...args) => {
    if (damaged) throw Object.assign(new Error("The line is no UTF-8."), { code: "corrupt" })
    return storage.read(...args)
  }
  const search = createSearch({
    storage: { ...storage, capabilities: storage.capabilities, read },
    index: createMemoryIndex(),
  })
  expect(await search.search("word")).toMatchObject({ hits: [], unreadable: [{ id: "s", error: { code: "corrupt" } }] })
  damaged = false
  const log = location.logs.get("s")
  if (log !== undefined) log.updatedAt += 1
  expect(await search.search("word")).toMatchObject({ hits: [{ entryId: "m1" }], unreadable: [] })
})
