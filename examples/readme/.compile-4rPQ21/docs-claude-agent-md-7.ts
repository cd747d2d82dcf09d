import { foldSessionSummary, listSessions, query } from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const sessionStore = createClaudeStore({ sessions, foldSessionSummary })

const [newest] = await listSessions({ dir: process.cwd(), sessionStore })
const options = newest === undefined ? { sessionStore } : { sessionStore, resume: newest.sessionId }
for await (const message of query({ prompt: "and now the documentation", options })) {
  if (message.type === "system" && message.subtype === "mirror_error") console.error(message.error)
}

await sessionStore.close()
await sessions.close()
export {}
