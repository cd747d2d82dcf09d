/** An index for which there is no space, or not for all sessions. */
import { StorageError } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { createMemoryIndex, type SearchIndex } from "../src/index.ts"
import { createWorld, say } from "./helpers.ts"

/** An index that has no space for rows with the word `big` while it is full. */
function limitedIndex() {
  const index = createMemoryIndex()
  const site = { isFull: true }
  const limited: SearchIndex = {
    ...index,
    async write(changes) {
      const isTooMuch = changes.some(
        ({ head, rows }) => head === undefined || rows.some(({ words }) => words.includes("big")),
      )
      if (site.isFull && isTooMuch) throw new StorageError("quota", "The index is full.")
      return index.write(changes)
    },
  }
  return { site, limited }
}

for (const catchUp of ["all", "own"] as const)
  test(`a search answers from the sessions that the index has, names the others, and finds them once there is space, with catchUp "${catchUp}"`, async () => {
    const { site, limited } = limitedIndex()
    const { sessions, search, find } = createWorld({ index: limited })
    const [a, b] = [await sessions.create({ id: "a" }), await sessions.create({ id: "b" })]
    const [inA, inB] = [await say(a, "word one"), await say(b, "word two")]
    expect(await find("word", { catchUp })).toEqual([inB, inA])
    const more = await say(b, "word big")
    for (let n = 0; n < 2; n++) {
      const { hits, unreadable } = await search.search("word", { catchUp })
      expect(hits.map(({ entryId }) => entryId)).toEqual([inA])
      expect(unreadable).toMatchObject([{ id: "b", error: { code: "quota" } }])
    }
    site.isFull = false
    const { hits, unreadable } = await search.search("word", { catchUp })
    expect(hits.map(({ entryId }) => entryId)).toEqual([more, inB, inA])
    expect(unreadable).toEqual([])
  })

test("a session that was deleted has no hits, although the index cannot remove it", async () => {
  const { site, limited } = limitedIndex()
  const { sessions, search, find } = createWorld({ index: limited })
  const [a, b] = [await sessions.create({ id: "a" }), await sessions.create({ id: "b" })]
  const inA = await say(a, "word")
  await say(b, "word")
  expect(await find("word")).toHaveLength(2)
  await sessions.delete("b")
  expect(await find("word")).toEqual([inA])
  site.isFull = false
  expect(await find("word")).toEqual([inA])
  expect((await search.search("word")).unreadable).toEqual([])
})

test("`update` and `catchUp` say that there is no space", async () => {
  const { limited } = limitedIndex()
  const { sessions, search } = createWorld({ index: limited })
  const session = await sessions.create({ id: "a" })
  await say(session, "big")
  await expect(search.update("a")).rejects.toMatchObject({ code: "quota" })
  expect((await search.catchUp()).unreadable).toMatchObject([{ id: "a", error: { code: "quota" } }])
})
