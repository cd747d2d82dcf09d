import { readUIMessageStream } from "ai"
import {
  assert,
  checkUndamaged,
  everySession,
  load as loadModule,
  makeFolder,
  openFiles,
  until,
} from "../../lib/check.mjs"

const { createRoutes } = await loadModule("routes.mjs")
const { createModel } = await loadModule("model.mjs")
const [folder, prompts] = [makeFolder(), []]
const model = createModel(prompts)
let routes = createRoutes({ folder, model })
const question = (id, text) => ({ id, role: "user", parts: [{ type: "text", text }] })
const post = (body) => routes.post(new Request("https://chat.example/", { method: "POST", body: JSON.stringify(body) }))
/** Reads the answer as a page does. */
async function ask(body) {
  const response = await post(body)
  assert.equal(response.status, 200, "the status")
  assert.match(response.headers.get("content-type") ?? "", /text\/event-stream/, "the type of the answer")
  const chunks = (await response.text())
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)))
  let message
  for await (const next of readUIMessageStream({ stream: ReadableStream.from(chunks) })) message = next
  return textOf(message)
}

assert.deepEqual(await routes.load("trip"), [], "a chat that does not exist")
assert.equal((await routes.list()).length, 0, "load has made a chat")
assert.equal(await ask({ id: "trip", message: question("q1", "Where is Rome?") }), "I have read 1 messages, call 1.")
await routes.close()

routes = createRoutes({ folder, model })
assert.deepEqual(
  await shown(),
  ["user: Where is Rome?", "assistant: I have read 1 messages, call 1."],
  "after a restart",
)
assert.equal(await ask({ id: "trip", message: question("q2", "And Paris?") }), "I have read 3 messages, call 2.")
assert.equal(
  await ask({ id: "trip", trigger: "regenerate-message" }),
  "I have read 3 messages, call 3.",
  "another answer",
)
const wanted = ["user: Where is Rome?", "assistant: I have read 1 messages, call 1.", "user: And Paris?"]
assert.deepEqual(
  await shown(),
  [...wanted, "assistant: I have read 3 messages, call 3."],
  "the chat with another answer",
)
assert.equal((await routes.load("trip"))[2].id, "q2", "the id of a message")

const broken = { ...model, doStream: () => Promise.reject(new Error("overloaded")) }
const failing = createRoutes({ folder, model: broken })
const request = new Request("https://chat.example/", {
  method: "POST",
  body: JSON.stringify({ id: "failing", message: question("q0", "Who fails?") }),
})
await failing.post(request).then(
  (response) => response.text(),
  () => undefined,
)
assert.equal((await failing.load("failing")).at(0)?.id, "q0", "the question is not stored when the model fails")
await failing.close()
await deleteChat("failing")

const gone = await post({ id: "other", message: question("q3", "Who has gone away?") })
await gone.body.cancel()
await until(
  async () => (await routes.load("other")).length === 2,
  "the answer of a page that has gone away is not stored",
)
assert.deepEqual(
  (await routes.list()).map(({ id, title }) => [id, title]),
  [
    ["other", "Who has gone away?"],
    ["trip", "Where is Rome?"],
  ],
  "the list",
)
await routes.close()

const sessions = openFiles(folder)
assert.equal((await everySession(sessions)).length, 2, "the sessions")
const texts = []
for await (const entry of (await sessions.open("trip")).entries()) texts.push(JSON.stringify(entry))
for (const number of [1, 2, 3])
  assert.ok(
    texts.some((text) => text.includes(`call ${number}.`)),
    `answer ${number} is not in the log`,
  )
await checkUndamaged(sessions)
await sessions.close()

async function deleteChat(id) {
  const sessions = openFiles(folder)
  await sessions.delete(id)
  await sessions.close()
}

async function shown() {
  return (await routes.load("trip")).map((message) => `${message.role}: ${textOf(message)}`)
}

function textOf({ parts }) {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
}
