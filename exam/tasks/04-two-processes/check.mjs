import {
  assert,
  checkUndamaged,
  conversationOf,
  linesOf,
  makeFolder,
  openFiles,
  start,
  theSession,
  until,
} from "../../lib/check.mjs"
import { sessionBranches } from "@sessions/core/transfer"

const [folder, count] = [makeFolder(), 60]
const names = ["ada", "bob", "cyd"]
const killed = start("worker.mjs", [folder, "reports", "eve", "1000000"])
const outcomes = names.map((name) => start("worker.mjs", [folder, "reports", name, String(count)]).done)
await until(async () => (await lines()).filter((line) => line.includes("of eve")).length >= 6, "the reports of eve")
killed.child.kill("SIGKILL")
await killed.done
for (const [i, { code, out, err }] of (await Promise.all(outcomes)).entries()) {
  assert.equal(code, 0, `the worker ${names[i]} failed: ${err}`)
  assert.equal(out.trim(), "done", `the worker ${names[i]} printed something else`)
}

const all = await lines()
for (const name of names) {
  const own = all.filter((line) => line.endsWith(` of ${name}`))
  const wanted = Array.from({ length: count }, (_, i) => [
    `user: report ${i + 1} of ${name}`,
    `assistant: noted ${i + 1} of ${name}`,
  ])
  assert.deepEqual(own, wanted.flat(), `the reports of ${name}`)
}
for (let i = 0; i < all.length; i += 2)
  assert.equal(all[i + 1], all[i].replace("user: report", "assistant: noted"), `what follows "${all[i]}"`)

const sessions = openFiles(folder)
const session = await theSession(sessions)
assert.equal(session.id, "reports")
assert.equal((await sessionBranches(session)).length, 1, "the conversation has branches")
await checkUndamaged(sessions)
await sessions.close()

/** The conversation as a reader has it, empty before there is one. */
async function lines() {
  const sessions = openFiles(folder)
  try {
    if ((await sessions.list()).sessions.length === 0) return []
    return linesOf(await conversationOf(await theSession(sessions)))
  } finally {
    await sessions.close()
  }
}
