import { createSessions } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { createS3Storage } from "@sessions/s3"
import { assert, checkUndamaged, linesOf, load, textOf, theSession } from "../../lib/check.mjs"

const { createHandler } = await load("handler.mjs")
const { createBucketClient } = await load("bucket.mjs")
const { objects } = createBucketClient()
const newUlid = createIds()
let [asked, failing] = [[], false]
const ask = async (messages) => {
  asked.push(messages)
  if (failing) throw new Error("overloaded")
  await new Promise((resolve) => setTimeout(resolve, 20))
  return `answer to ${messages.at(-1).text}`
}
/** Each request goes to a new copy of the function. */
async function post(body) {
  const handler = createHandler({ client: createBucketClient(objects), bucket: "chats", ask })
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const response = await handler(new Request("https://chat.example/", { method: "POST", body: text }))
  return { status: response.status, body: await response.json() }
}

const one = { chat: "chat-1", request: newUlid(), text: "one" }
assert.deepEqual(await post(one), { status: 200, body: { text: "answer to one" } }, "the first question")
assert.deepEqual(await post(one), { status: 200, body: { text: "answer to one" } }, "the first question, repeated")
assert.equal(asked.length, 1, "the model was asked again for a question that was answered")

failing = true
const two = { chat: "chat-1", request: newUlid(), text: "two" }
const failed = await post(two)
assert.equal(failed.status, 502, "the status while the model fails")
assert.ok(failed.body.error, "the error while the model fails")
failing = false
assert.deepEqual(await post(two), { status: 200, body: { text: "answer to two" } }, "the repeated question")
assert.deepEqual(
  asked.at(-1).map(({ role, text }) => `${role}: ${text}`),
  ["user: one", "assistant: answer to one", "user: two"],
  "what the model got",
)
assert.deepEqual(await post(one), { status: 200, body: { text: "answer to one" } }, "an old question, repeated")
for (const body of [
  "no json",
  { chat: "chat-1", text: "x" },
  { ...one, request: "r-1" },
  { chat: "chat-1", request: newUlid() },
])
  assert.equal((await post(body)).status, 400, `the status of ${JSON.stringify(body)}`)

const client = createBucketClient(objects)
let sessions = createSessions({ storage: createS3Storage({ client, bucket: "chats" }) })
let session = await theSession(sessions)
assert.equal(session.id, "chat-1")
const wanted = ["user: one", "assistant: answer to one", "user: two", "assistant: answer to two"]
assert.deepEqual(linesOf((await session.messages()).messages), wanted, "the stored chat")
await sessions.close()

const both = await Promise.all(["left", "right"].map((text) => post({ chat: "chat-1", request: newUlid(), text })))
assert.deepEqual(
  both.map(({ status, body }) => [status, body.text]),
  [
    [200, "answer to left"],
    [200, "answer to right"],
  ],
  "two questions at once",
)
sessions = createSessions({ storage: createS3Storage({ client, bucket: "chats" }) })
session = await theSession(sessions)
const messages = new Map()
for await (const entry of session.entries()) if (entry.type === "message") messages.set(entry.id, entry)
assert.equal(messages.size, 8, "the messages of all branches")
for (const { message, parentId } of messages.values()) {
  if (message.role !== "assistant") continue
  const asked = messages.get(parentId)
  assert.equal(
    textOf(message.content),
    `answer to ${textOf(asked.message.content)}`,
    "an answer follows another question",
  )
}
await checkUndamaged(sessions)
await sessions.close()
