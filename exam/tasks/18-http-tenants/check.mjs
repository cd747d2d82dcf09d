import { join } from "node:path"
import { createIds } from "@sessions/core/format"
import { hasCode } from "@sessions/core"
import { createSessionClient } from "@sessions/http/client"
import { assert, checkUndamaged, linesOf, makeFolder, openFiles, start, until } from "../../lib/check.mjs"

const [folder, newId] = [makeFolder(), createIds()]
let server = await serve()
let [ada, bob] = [clientOf("7f3c9a"), clientOf("b81e02")]
const { id } = await ada.create({ title: "Of Ada" })
const first = { id: newId(), text: "hello" }
await ada.prompt(id, first)
await ada.prompt(id, first)
await ended(ada, first.id)
const second = { id: newId(), text: "again" }
await ada.prompt(id, second)
assert.equal(await ended(ada, second.id), undefined, "the error of a prompt")
const wanted = [
  "user: hello",
  "assistant: 1 messages, the last one: hello",
  "user: again",
  "assistant: 3 messages, the last one: again",
]
assert.deepEqual(await shown(ada), wanted, "the chat")

const stopped = { id: newId(), text: "wait to be stopped" }
await ada.prompt(id, stopped)
await until(async () => (await ada.stop(id, stopped.id)).was !== "queued", "a prompt that runs")
assert.equal((await ended(ada, stopped.id))?.code, "stopped", "the end of a prompt that was stopped")

for (const call of [
  () => bob.load(id),
  () => bob.prompt(id, { id: newId(), text: "x" }),
  () => bob.delete(id),
  () => bob.context(id),
])
  await assert.rejects(call(), (error) => hasCode(error, "not_found"), "another user reaches the chat")
assert.deepEqual((await bob.list()).sessions, [], "the list of another user")
for (const headers of [{}, { authorization: "Bearer nobody" }, { authorization: "Bearer " }]) {
  const { status } = await fetch(new URL("sessions", `${server.url}/`), { headers })
  assert.equal(status, 401, `the status with ${JSON.stringify(headers)}`)
}

const running = { id: newId(), text: "wait for ever" }
const waiting = { id: newId(), text: "after that" }
await ada.prompt(id, running)
await ada.prompt(id, waiting)
await until(async () => (await shown(ada)).includes("user: wait for ever"), "the prompt that runs")
server.child.kill("SIGKILL")
await server.done

server = await serve()
ada = clientOf("7f3c9a")
// The server that died has its lease for up to a minute, so the prompt only waits here.
assert.ok(await isKept(waiting.id), "the prompt that waited is lost")
const lines = await shown(ada)
assert.equal(lines.filter((line) => line === "user: wait for ever").length, 1, "the prompt that was running")
await ada.create({ title: "One more" })
server.child.kill("SIGKILL")
await server.done

const sessions = openFiles(join(folder, "ada"))
assert.equal((await sessions.list()).sessions.length, 2, "the chats in the folder of ada")
assert.deepEqual(linesOf((await (await sessions.open(id)).messages()).messages), lines, "the log")
await checkUndamaged(sessions)
await sessions.close()
const others = openFiles(join(folder, "bob"))
assert.equal((await others.list()).sessions.length, 0)
await others.close()

async function serve() {
  const started = start("server.mjs", [folder])
  await until(() => started.printed().includes("\n") || started.child.exitCode !== null, "the address of the server")
  const url = started.printed().trim()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/, "what the server prints")
  return { ...started, url }
}

function clientOf(token) {
  return createSessionClient({ url: server.url, headers: { authorization: `Bearer ${token}` } })
}

/** Waits for the end of a prompt's turn, and returns its error. */
async function ended(client, messageId) {
  for await (const { event, data } of client.events(id, { signal: AbortSignal.timeout(60_000) })) {
    const all = event === "state" ? data.ended : event === "turn_end" ? [data] : []
    const found = all.find((turn) => turn.messageId === messageId)
    if (found !== undefined) return found.error
  }
  return assert.fail(`the events end before the turn of ${messageId}`)
}

/** Whether the server still has a prompt, or its turn has ended. */
async function isKept(messageId) {
  for await (const { event, data } of ada.events(id, { signal: AbortSignal.timeout(60_000) })) {
    if (event !== "state") continue
    return [data.running, ...data.queued, ...data.ended].some((prompt) => prompt?.messageId === messageId)
  }
}

async function shown(client) {
  return linesOf((await client.load(id)).messages)
}
