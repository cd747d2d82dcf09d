/** A search in a page: sessions and index in IndexedDB, as several tabs use them. */
import { createSessions, type Sessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import { deleteDB } from "idb"
import { expect, onTestFinished, test } from "vitest"
import { createSearch, type Search } from "../src/index.ts"
import { createIndexedDbIndex } from "../src/indexeddb/index.ts"
import { marked, say } from "./helpers.ts"

let made = 0

function newTabs(): {
  readonly name: string
  readonly open: () => { search: Search; sessions: Sessions }
} {
  const name = `test-search-${Date.now().toString(36)}-${made++}`
  const closing: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of closing) await close()
    await deleteDB(name)
    await deleteDB(`${name}-search`)
  })
  return {
    name,
    open() {
      const storage = createIndexedDbStorage({ database: name })
      const search = createSearch({ storage, index: createIndexedDbIndex({ database: `${name}-search` }) })
      const sessions = createSessions({ storage, hooks: search.hooks })
      closing.push(async () => {
        await search.close()
        await sessions.close()
      })
      return { search, sessions }
    },
  }
}

test("finds what was said in any session, also after a reload, and not what was deleted", async () => {
  const tabs = newTabs()
  const { search, sessions } = tabs.open()
  const [a, b] = [await sessions.create({ cwd: "/a" }), await sessions.create({ cwd: "/b" })]
  const first = await say(a, "Where is the deploy key?")
  const second = await say(b, "The deployment keys are here.", "assistant")
  const found = await search.search("KEY dep")
  expect(found.hits.map(({ entryId }) => entryId)).toEqual([second, first])
  expect(marked(found.hits[1]?.snippet ?? [])).toBe("Where is the [deploy] [key]?")
  await a.tombstone(first)
  await search.close()
  const later = tabs.open()
  expect((await later.search.search("key dep")).hits.map(({ entryId }) => entryId)).toEqual([second])
  await later.sessions.delete(b.id)
  expect((await later.search.search("key", { catchUp: "own" })).hits).toEqual([])
})

test("follows what another tab has written and removed, in the sessions and in the index", async () => {
  const tabs = newTabs()
  const [one, two] = [tabs.open(), tabs.open()]
  const session = await one.sessions.create()
  const id = await say(session, "word one")
  for (const { search } of [one, two]) expect((await search.search("word")).hits).toHaveLength(1)
  await say(session, "word two")
  for (const { search } of [two, one]) expect((await search.search("word")).hits).toHaveLength(2)
  await session.tombstone(id)
  for (const { search } of [two, one]) expect((await search.search("word")).hits).toHaveLength(1)
  await two.search.clear()
  for (const { search } of [one, two]) expect((await search.search("word")).hits).toHaveLength(1)
})

test("goes on if the database of the index is deleted meanwhile", async () => {
  const tabs = newTabs()
  const { search, sessions } = tabs.open()
  await say(await sessions.create(), "word")
  expect((await search.search("word")).hits).toHaveLength(1)
  await deleteDB(`${tabs.name}-search`)
  expect((await search.search("word")).hits).toHaveLength(1)
})
