import { Agent, run } from "@openai/agents"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession, listAgentSessions } from "@sessions/openai-agents"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const agent = new Agent({ name: "guide" })

const session = createAgentSession({ sessions, sessionId: "chat-42", metadata: { user: "ada" } })
await run(agent, "Where is Paris?", { session })
await session.close()

const { sessions: chats } = await listAgentSessions(sessions, { metadata: { user: "ada" }, limit: 20 })
for (const { sessionId, title, firstPrompt } of chats) console.log(sessionId, title ?? firstPrompt)
await sessions.close()
export {}
