import { existsSync } from "node:fs"
import { join } from "node:path"
import {
  assert,
  checkUndamaged,
  linesOf,
  makeFolder,
  openFiles,
  runProgram,
  start,
  textOf,
  theSession,
  until,
} from "../../lib/check.mjs"

const [folder, flags] = [makeFolder(), makeFolder()]
await killedAt("TOOL_HANGS", "first")
let stored = await lines()
assert.deepEqual(stored, ["user: first", "assistant: [toolCall]"], "what is in the log while a tool runs")

assert.equal(await runProgram("agent.mjs", [folder, "second"]), "first | second -> found second")
const before = await lines()
await killedAt("MODEL_HANGS", "third")
stored = await lines()
assert.deepEqual(stored, [...before, "user: third"], "what is in the log while the model is thinking")
assert.equal(await runProgram("agent.mjs", [folder, "fourth"]), "first | second | third | fourth -> found fourth")

const sessions = openFiles(folder)
const session = await theSession(sessions)
const { messages } = await session.messages({ limit: 1000 })
assert.deepEqual(linesOf(messages).slice(0, stored.length), stored, "what was stored is still there")
const call = messages
  .find(({ message }) => message.role === "assistant")
  .message.content.find(({ type }) => type === "toolCall")
assert.deepEqual([call.name, call.arguments], ["lookup", { key: "first" }], "the call of the first question")
const results = messages.filter(({ message }) => message.role === "toolResult")
assert.ok(
  results.some(({ message }) => textOf(message.content) === "found fourth"),
  "the result of a tool is in the log",
)
const entries = []
for await (const entry of session.entries()) entries.push(entry.type)
assert.ok(
  !entries.some((type) => ["tombstone", "context_edit", "leaf"].includes(type)),
  `the log was changed: ${entries.join(", ")}`,
)
await checkUndamaged(sessions)
await sessions.close()

async function killedAt(variable, question) {
  const flag = join(flags, variable)
  const { child, done } = start("agent.mjs", [folder, question], { [variable]: flag })
  await until(() => existsSync(flag) || child.exitCode !== null, `the call with ${variable}`)
  assert.ok(existsSync(flag), `agent.mjs ended by itself: ${child.exitCode === null ? "" : (await done).err}`)
  child.kill("SIGKILL")
  await done
}

async function lines() {
  const sessions = openFiles(folder)
  const session = await theSession(sessions)
  const { messages } = await session.messages({ limit: 1000 })
  await sessions.close()
  return linesOf(messages)
}
