import { createAgentSession } from "@sessions/openai-agents"
import { assert, checkUndamaged, everySession, makeFolder, openFiles, runProgram } from "../../lib/check.mjs"

const folder = makeFolder()
const run = (...args) => runProgram("chat.mjs", [folder, ...args])
const rome = "Trip to Rome / 2026?"
assert.equal(await run("ada", rome, "Book a hotel."), "I was given 3 items.", "the first run")
assert.equal(await run("ada", "Second", "Hello."), "I was given 3 items.", "another chat")
assert.equal(await run("bob", "Of Bob", "Hi."), "I was given 3 items.", "another user")
assert.equal(await run("ada", rome, "Once more."), "I was given 7 items.", "the second run has the items of the first")
assert.deepEqual(
  (await run("ada", "--list")).split("\n"),
  [`${rome}\tBook a hotel.`, "Second\tHello."],
  "the chats of ada",
)
assert.equal(await run("eve", "--list"), "", "a user without chats")
assert.equal(await run("ada", rome, "--undo"), "Once more.", "the question that was undone")
assert.equal(await run("ada", rome, "Something else."), "I was given 7 items.", "the run after that")

let sessions = openFiles(folder)
const session = createAgentSession({ sessions, sessionId: rome })
const items = await session.getItems()
assert.deepEqual(
  items.map((item) => item.role ?? item.type),
  [
    "user",
    "function_call",
    "function_call_result",
    "assistant",
    "user",
    "function_call",
    "function_call_result",
    "assistant",
  ],
  "the items of the chat",
)
assert.ok(!JSON.stringify(items).includes("Once more."), "the question that was undone is still there")
await session.close()
await checkUndamaged(sessions)
await sessions.close()

assert.equal(await run("ada", "Second", "--delete"), "deleted")
assert.equal(await run("ada", "Second", "--delete"), "none", "a chat that was deleted")
sessions = openFiles(folder)
assert.equal((await everySession(sessions)).length, 2, "the chats that are left")
await sessions.close()
