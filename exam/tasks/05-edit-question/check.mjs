import { assert, checkUndamaged, linesOf, makeFolder, openFiles, runProgram, start } from "../../lib/check.mjs"
import { sessionBranches } from "@sessions/core/transfer"

const folder = makeFolder()
const say = (role, content) => ({ type: "message", message: { role, content } })
let sessions = openFiles(folder)
const first = await sessions.create({ id: "chat", title: "A title" })
const { ids } = await first.append([say("user", "q1"), say("assistant", "a1")])
await first.label(ids[1], "good")
await first.append([say("user", "q2"), say("assistant", "a2"), say("user", "q3"), say("assistant", "a3")])
await first.title("Another title")
const oldLeaf = (await first.messages()).messages.at(-1).entryId
await sessions.close()

assert.equal(await runProgram("edit.mjs", [folder, "chat", "2", "Q2"]), "about q1, a1, Q2")
assert.deepEqual(
  await shown(),
  ["user: q1", "assistant: a1", "user: Q2", "assistant: about q1, a1, Q2"],
  "the conversation",
)
assert.equal(await runProgram("edit.mjs", [folder, "chat", "2", "QQ2"]), "about q1, a1, QQ2")
assert.equal(await runProgram("edit.mjs", [folder, "chat", "1", "Q1"]), "about Q1")
assert.deepEqual(await shown(), ["user: Q1", "assistant: about Q1"], "the conversation with another first question")
for (const args of [
  [folder, "chat", "2", "x"],
  [folder, "no-chat", "1", "x"],
]) {
  const { code, out, err } = await start("edit.mjs", args).done
  assert.equal(code, 1, `the exit code of ${args.join(" ")}`)
  assert.equal(out, "", "what is printed for a question that is not there")
  assert.notEqual(err, "", "it says what is wrong")
}

sessions = openFiles(folder)
assert.equal((await sessions.list()).sessions.length, 1, "a conversation was made")
const session = await sessions.open("chat")
assert.equal((await session.info()).messageCount, 12, "the messages of the log")
assert.equal((await session.info()).title, "Another title")
assert.equal((await sessionBranches(session)).length, 4, "the branches")
assert.ok(
  !session.diagnostics.some(({ code }) => code === "diverged"),
  "the branches count as a conflict between writers",
)
await session.branch(oldLeaf)
assert.deepEqual(
  linesOf((await session.messages()).messages),
  ["user: q1", "assistant: a1", "user: q2", "assistant: a2", "user: q3", "assistant: a3"],
  "the first version",
)
await checkUndamaged(sessions)
await sessions.close()

async function shown() {
  const sessions = openFiles(folder)
  const session = await sessions.open("chat")
  const lines = linesOf((await session.messages()).messages)
  await sessions.close()
  return lines
}
