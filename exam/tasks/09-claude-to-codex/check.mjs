import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { createSessions } from "@sessions/core"
import { codex } from "@sessions/formats/codex"
import { createMemoryStorage } from "@sessions/memory"
import {
  assert,
  checkUndamaged,
  linesOf,
  makeFolder,
  openFiles,
  runProgram,
  solutionFile,
  theSession,
} from "../../lib/check.mjs"

const [store, home] = [makeFolder(), join(makeFolder(), "codex")]
const file = solutionFile("session.jsonl")
await runProgram("move.mjs", [file, store, home])
const path = await runProgram("move.mjs", [file, store, home])

const sessions = openFiles(store)
const session = await theSession(sessions)
const wanted = [
  "user: Why does the checkout test fail?",
  "assistant: I run it first.[toolCall]",
  "toolResult: 1 failed: expected 12.50, got 12.5 (key sk-4f9a7c21d0)",
  "assistant: The amount is formatted without its second decimal.",
]
assert.deepEqual(linesOf((await session.context()).messages), wanted, "the stored conversation")
assert.equal(session.header.cwd, "/home/ada/shop", "the folder of the session")
await checkUndamaged(sessions)
await sessions.close()

assert.ok(existsSync(path), `what was printed is no file: ${path}`)
assert.match(
  relative(home, path),
  /^sessions\/2026\/0[89]\/\d\d\/rollout-2026-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/,
  "the path and the name of the file for Codex",
)
const text = readFileSync(path, "utf8")
const meta = JSON.parse(text.slice(0, text.indexOf("\n")))
assert.equal(meta.type, "session_meta", "the first line for Codex")
assert.ok(path.endsWith(`${meta.payload.id}.jsonl`), "the id in the file is not that of its name")
const read = createSessions({ storage: createMemoryStorage() })
const { id } = await read.import(text, { from: codex })
const spoken = linesOf((await (await read.open(id)).context()).messages).join("\n")
for (const part of ["Why does the checkout test fail?", "I run it first.", "expected 12.50", "its second decimal"])
  assert.ok(spoken.includes(part), `the file for Codex lacks "${part}"`)

const page = readFileSync(join(home, "share.html"), "utf8")
assert.ok(page.includes("Why does the checkout test fail?"), "the page lacks the conversation")
assert.ok(page.includes("[key]"), "the page has no [key]")
assert.ok(!page.includes("sk-4f9a7c21d0") && !page.includes("4f9a7c21d0"), "the page has the key")
