import { type AgentInputItem, MemorySession } from "@openai/agents"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession } from "@sessions/openai-agents"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const old = new MemorySession({ sessionId: "chat-41" }) // the session of your database
const session = createAgentSession<AgentInputItem>({ sessions, sessionId: await old.getSessionId() })
if ((await session.getItems(1)).length === 0) await session.addItems(await old.getItems())
await sessions.close()
export {}
