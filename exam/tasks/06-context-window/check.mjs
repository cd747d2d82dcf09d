import { assert, checkUndamaged, linesOf, load, makeFolder, openFiles, theSession } from "../../lib/check.mjs"

const { openChat } = await load("chat.mjs")
const [folder, window] = [makeFolder(), 8_000]
let [summaries, fails, largest, withSummary] = [0, false, 0, 0]
const place = {
  folder,
  id: "long",
  window,
  async ask(messages) {
    const tokens = messages.reduce((sum, { text }) => sum + text.length, 0) / 4
    largest = Math.max(largest, tokens)
    if (tokens > window) throw new Error(`400: ${tokens} tokens`)
    if (messages.some(({ text }) => text.includes("the gist of it"))) withSummary++
    return `answer to ${messages.at(-1).text.slice(0, 12)} ${"words ".repeat(650)}`
  },
  async summarize(prompt) {
    assert.ok(typeof prompt === "string" && prompt.length > 0, "summarize gets a text")
    summaries++
    if (fails) throw new Error("the summarizer is down")
    return "the gist of it"
  },
}

let chat = await openChat(place)
for (let i = 1; i <= 15; i++) await chat.send(`question ${i} ${"more ".repeat(100)}`)
await chat.close()
assert.ok(summaries > 0, "nothing was summarized")
assert.ok(withSummary > 0, "the model never got a summary")
assert.ok(summaries < 10, `${summaries} summaries for 15 questions: they are made again and again`)

chat = await openChat(place)
fails = true
const before = summaries
for (let i = 16; summaries === before; i++) {
  assert.ok(i < 30, "the summarizer is no longer called")
  const answer = await chat.send(`question ${i}`)
  assert.ok(answer.startsWith(`answer to question ${i}`), "an answer while the summarizer is down")
}
fails = false
for (let i = 30; i <= 40; i++) await chat.send(`question ${i}`)
const history = await chat.history()
await chat.close()
assert.ok(largest > 3_000, `the model got ${largest} tokens at most: too much was left out`)
assert.ok(history[0].text.startsWith("question 1 "), "the history begins with the first question")
assert.ok(
  history.every(({ role }, i) => role === (i % 2 === 0 ? "user" : "assistant")),
  "the roles of the history",
)
assert.ok(!history.some(({ text }) => text.includes("the gist of it")), "a summary is in the history")

const sessions = openFiles(folder)
const session = await theSession(sessions)
assert.equal(session.id, "long")
assert.equal((await session.info()).messageCount, history.length, "the messages of the log")
assert.deepEqual(
  linesOf((await session.messages({ limit: 1000 })).messages),
  history.map(({ role, text }) => `${role}: ${text}`),
)
assert.notEqual((await session.context()).compaction, undefined, "the log has no compaction")
await checkUndamaged(sessions)
await sessions.close()
