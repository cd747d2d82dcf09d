/**
 * `node main.ts`: moves a local session of the Claude Agent SDK into a store, deletes the local copy, and reads, lists and searches the
 * session in the store. `query({ options: { sessionStore, resume } })` goes on with it from there.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  foldSessionSummary,
  getSessionMessages,
  importSessionToStore,
  listSessions,
} from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore, messageOf } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createMemoryIndex, createSearch } from "@sessions/search"
import { SESSION_ID, writeLocalSession } from "./local-session.ts"

const root = await realpath(await mkdtemp(join(tmpdir(), "claude-agent-")))
process.env["CLAUDE_CONFIG_DIR"] = join(root, "config")
const dir = join(root, "work")
const local = await writeLocalSession(join(root, "config"), dir)

const storage = createFileStorage({ root: join(root, "sessions") })
const sessions = createSessions({ storage })
const sessionStore = createClaudeStore({ sessions, foldSessionSummary })
// It may be repeated: no line is written twice.
for (let n = 0; n < 2; n++) await importSessionToStore(SESSION_ID, sessionStore, { dir })
await rm(local, { recursive: true })
console.log("local sessions:", (await listSessions({ dir })).length)

for (const { sessionId, summary } of await listSessions({ dir, sessionStore })) {
  console.log(`in the store: ${summary}`)
  for (const { type, message } of await getSessionMessages(sessionId, { dir, sessionStore }))
    console.log(`  ${type}: ${JSON.stringify((message as { content: unknown }).content)}`)
}

const search = createSearch({ storage, index: createMemoryIndex(), toMessage: messageOf })
for (const { role, snippet } of (await search.search("port 8080")).hits)
  console.log(`found: ${role}: ${snippet.map(({ text }) => text).join("")}`)

await search.close()
await sessionStore.close()
await sessions.close()
await rm(root, { recursive: true })
