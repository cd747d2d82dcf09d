import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import { assert, checkUndamaged, linesOf, load, theSession } from "../../lib/check.mjs"

await import("fake-indexeddb/auto")
const { openChat } = await load("chat.mjs")
const asked = []
const ask = async (messages) => {
  asked.push(messages)
  return `answer ${messages.length}`
}
const place = { database: "page", id: "chat-1", ask }

const first = await openChat(place)
assert.equal(await first.send("one"), "answer 1", "the answer of the first question")
await first.close()

const again = await openChat(place)
assert.deepEqual(await again.history(), rows("one", "answer 1"), "the history after a reload")
const other = await openChat(place)
assert.equal(await other.send("two"), "answer 3", "the second question goes with the first one")
assert.equal(await again.send("three"), "answer 5", "a tab sends what the other one has added")
assert.deepEqual(asked.at(-1), [...rows("one", "answer 1", "two", "answer 3"), { role: "user", text: "three" }])
assert.deepEqual(
  await other.history(),
  rows("one", "answer 1", "two", "answer 3", "three", "answer 5"),
  "the history of the tab that was not used last",
)
await again.close()
await other.close()

const failing = await openChat({
  ...place,
  ask: async () => {
    throw new Error("no network")
  },
})
await assert.rejects(failing.send("four"), "send fails with the model")
assert.deepEqual((await failing.history()).at(-1), { role: "user", text: "four" }, "the question without an answer")
await failing.close()

const long = await openChat(place)
for (let i = 0; i < 60; i++) await long.send(`more ${i}`)
const history = await long.history()
assert.equal(history.length, 127, "the messages of a long chat")
await long.close()

const sessions = createSessions({ storage: createIndexedDbStorage({ database: "page" }) })
const session = await theSession(sessions)
assert.equal(session.id, "chat-1")
assert.equal((await session.info()).messageCount, 127, "the messages of the log")
assert.deepEqual(
  linesOf((await session.messages({ limit: 1000 })).messages),
  history.map(({ role, text }) => `${role}: ${text}`),
  "the log and the history",
)
await checkUndamaged(sessions)
await sessions.close()
process.exit(0)

function rows(...texts) {
  return texts.map((text, i) => ({ role: i % 2 === 0 ? "user" : "assistant", text }))
}
