import { assert, checkUndamaged, everySession, load, makeFolder, openFiles } from "../../lib/check.mjs"

const { openChats } = await load("chats.mjs")
const folder = makeFolder()
let chats = await openChats(folder)
const ids = []
for (let i = 0; i < 7; i++) {
  ids.push(await chats.create({ customer: "ada", text: `question ${i} of ada` }))
  await chats.create({ customer: "bob", text: `question ${i} of bob` })
  await later()
}
await chats.rename(ids[0], "Oldest")
await chats.suggest(ids[0], "found by a model")
await chats.suggest(ids[1], "Suggested")
await chats.say(ids[2], "once more")
await chats.remove(ids[3])
await chats.close()

chats = await openChats(folder)
const pages = []
let cursor
do {
  const page = await chats.list({ customer: "ada", cursor })
  assert.ok(page.chats.length <= 3, `a page has ${page.chats.length} chats`)
  pages.push(page.chats)
  cursor = page.next
} while (cursor !== undefined && pages.length < 10)
const wanted = [
  [ids[2], "question 2 of ada", 2],
  [ids[6], "question 6 of ada", 1],
  [ids[5], "question 5 of ada", 1],
  [ids[4], "question 4 of ada", 1],
  [ids[1], "Suggested", 1],
  [ids[0], "Oldest", 1],
]
assert.deepEqual(
  pages.flat().map(({ id, title, messages }) => [id, title, messages]),
  wanted,
  "the chats of ada",
)
assert.equal(pages[0].length, 3, "the first page")
assert.deepEqual((await chats.list({ customer: "eve" })).chats, [], "a customer without chats")
await chats.close()

const sessions = openFiles(folder)
assert.equal((await everySession(sessions)).length, 13, "the chats of both customers")
await checkUndamaged(sessions)
await sessions.close()

/** Times of messages are in milliseconds. */
function later() {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
