import { importSessionToStore, listSessions } from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const sessionStore = createClaudeStore({ sessions })
const dir = process.cwd()
for (const { sessionId } of await listSessions({ dir })) await importSessionToStore(sessionId, sessionStore, { dir })
await sessionStore.close()
await sessions.close()
export {}
