import { SessionsSaver } from "@sessions/langgraph"
import { assert, checkUndamaged, everySession, makeFolder, openFiles, runProgram } from "../../lib/check.mjs"

const folder = makeFolder()
const texts = Array.from({ length: 60 }, (_, i) => `text ${i}`)
assert.equal(await runProgram("graph.mjs", [folder, "nobody"]), "", "an unknown thread")
assert.equal(await runProgram("graph.mjs", [folder, "ada", ...texts]), "120", "the messages after the first run")
assert.equal(await runProgram("graph.mjs", [folder, "bob", "hello"]), "2", "another thread")
assert.equal(
  await runProgram("graph.mjs", [folder, "ada", "one more"]),
  "122",
  "the messages after a run in a new process",
)
const lines = (await runProgram("graph.mjs", [folder, "ada"])).split("\n")
assert.deepEqual(
  lines,
  [...texts, "one more"].flatMap((text) => [text, `re: ${text}`]),
  "the state",
)

const sessions = openFiles(folder)
assert.equal((await everySession(sessions)).length, 2, "the sessions of two threads")
const saver = new SessionsSaver({ sessions })
const checkpoints = []
for await (const { checkpoint } of saver.list({ configurable: { thread_id: "ada" } })) checkpoints.push(checkpoint.id)
assert.ok(checkpoints.length >= 20, `only ${checkpoints.length} checkpoints are left`)
assert.ok(checkpoints.length <= 120, `the thread has ${checkpoints.length} checkpoints`)
await checkUndamaged(sessions)
await saver.close()
await sessions.close()
