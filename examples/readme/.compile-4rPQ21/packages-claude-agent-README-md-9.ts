import { foldSessionSummary, query } from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const sessionStore = createClaudeStore({ sessions, foldSessionSummary })

for await (const message of query({ prompt: "fix the tests", options: { sessionStore } })) {
  if (message.type === "result") console.log(message.session_id)
}
await sessionStore.close()
await sessions.close()
export {}
