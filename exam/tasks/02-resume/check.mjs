import { existsSync } from "node:fs"
import { join } from "node:path"
import {
  assert,
  checkUndamaged,
  everySession,
  linesOf,
  makeFolder,
  openFiles,
  runProgram,
  theSession,
} from "../../lib/check.mjs"

const folder = join(makeFolder(), "not", "yet")
assert.equal(await runProgram("main.mjs", [folder, "--last", "5"]), "", "nothing was said")
if (existsSync(folder)) {
  const before = openFiles(folder)
  assert.equal((await everySession(before)).length, 0, "--last has made a conversation")
  await before.close()
}

assert.equal(
  await runProgram("main.mjs", [folder, "Nächste Frage 👋"]),
  'That was question 1, after "Nächste Frage 👋".',
)
assert.equal(await runProgram("main.mjs", [folder, "two\nlines"]), 'That was question 2, after "Nächste Frage 👋".')
assert.equal(await runProgram("main.mjs", [folder, "three"]), 'That was question 3, after "Nächste Frage 👋".')
assert.equal(
  await runProgram("main.mjs", [folder, "--last", "2"]),
  'user: three\nassistant: That was question 3, after "Nächste Frage 👋".',
  "the last two messages",
)

const sessions = openFiles(folder)
const session = await theSession(sessions)
const messages = linesOf((await session.context()).messages)
assert.equal(messages.length, 6, "the messages of the log")
assert.equal(messages[0], "user: Nächste Frage 👋")
assert.equal(messages[2], "user: two\nlines")
await checkUndamaged(sessions)
await sessions.close()
