/**
 * `main.ts COMMAND`: the Claude Agent SDK with its real command, offline, over the store. A session is made, its local copy deleted, and
 * resumed from the log by another repository. Prints a line for each check; the exit code is 1 if one fails.
 */
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { foldSessionSummary, getSessionMessages, listSessions, query } from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore, messageOf } from "@sessions/claude-agent"
import { createSessions, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { type AskedMessage, startModel } from "./model.ts"

const [command = ""] = process.argv.slice(2)
const root = mkdtempSync(join(tmpdir(), "sessions-claude-command-"))
const [cwd, config, logs] = ["work", "config", "logs"].map((name) => join(root, name)) as [string, string, string]
mkdirSync(cwd)
const model = await startModel((number) => `answer ${number}`)
process.env["CLAUDE_CONFIG_DIR"] = config

/** What the command needs to stay offline, and to run as root in a container. */
const env = {
  PATH: process.env["PATH"] ?? "",
  HOME: root,
  TMPDIR: root,
  CLAUDE_CONFIG_DIR: config,
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  IS_SANDBOX: "1",
}

/** One turn in a process with a repository of its own. Returns the session's id. */
async function turn(prompt: string, resume?: string): Promise<string> {
  const sessions = openSessions()
  const sessionStore = createClaudeStore({ sessions, foldSessionSummary })
  let sessionId = ""
  const options = {
    cwd,
    env,
    sessionStore,
    pathToClaudeCodeExecutable: command,
    ...(resume === undefined ? {} : { resume }),
  }
  for await (const message of query({ prompt, options })) {
    if (message.type === "system" && message.subtype === "mirror_error") assert.fail(message.error)
    if (message.type === "result") sessionId = message.session_id
  }
  await sessionStore.close()
  await sessions.close()
  return sessionId
}

function openSessions(): Sessions {
  return createSessions({ storage: createFileStorage({ root: logs }) })
}

function textsOf(messages: readonly AskedMessage[] | undefined): string {
  return JSON.stringify(messages?.map(({ role, content }) => [role, content]))
}

let failed = 0
let passed = 0
async function check(rule: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
    passed++
    console.log(`ok    ${rule}`)
  } catch (error) {
    failed++
    console.log(`FAIL  ${rule}\n${String(error)}`)
  }
}

let sessionId = ""
await check("the command mirrors a turn into the store", async () => {
  sessionId = await turn("question one")
  assert.match(sessionId, /^[0-9a-f-]{36}$/)
})
await check("without its local copy the session is resumed from the log, and the model gets all of it", async () => {
  rmSync(join(config, "projects"), { recursive: true })
  assert.equal(await turn("question two", sessionId), sessionId)
  const sent = textsOf(model.asked.at(-1))
  const places = ["question one", "answer 1", "question two"].map((text) => sent.indexOf(text))
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    sent,
  )
  assert.ok(
    places.every((place) => place !== -1),
    sent,
  )
})
await check("the SDK's readers find both turns in the store", async () => {
  const sessions = openSessions()
  const sessionStore = createClaudeStore({ sessions, foldSessionSummary })
  assert.deepEqual(
    (await listSessions({ dir: cwd, sessionStore })).map((info) => info.sessionId),
    [sessionId],
  )
  const messages = await getSessionMessages(sessionId, { dir: cwd, sessionStore })
  assert.deepEqual(
    messages.map(({ type }) => type),
    ["user", "assistant", "user", "assistant"],
  )
  await sessionStore.close()
  await sessions.close()
})
await check("the log has each line once, and its messages can be searched", async () => {
  const sessions = openSessions()
  const { sessions: rows } = await sessions.list({ kind: "claude-agent" })
  assert.equal(rows.length, 1)
  const session = await sessions.open(rows[0]?.id ?? "")
  const ids: string[] = []
  let found = ""
  for await (const entry of session.entries()) {
    ids.push(entry.id)
    found += JSON.stringify(messageOf(entry) ?? "")
  }
  assert.equal(new Set(ids).size, ids.length)
  for (const text of ["question one", "answer 1", "question two"]) assert.equal(found.split(text).length, 2, text)
  assert.deepEqual((await verifySession(sessions, session.id)).diagnostics, [])
  await sessions.close()
})

await model.close()
rmSync(root, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
