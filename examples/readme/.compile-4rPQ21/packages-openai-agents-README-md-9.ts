import { Agent, run } from "@openai/agents"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession } from "@sessions/openai-agents"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = createAgentSession({ sessions, sessionId: "chat-42" })

const agent = new Agent({ name: "guide", instructions: "Answer in one sentence." })
console.log((await run(agent, "Where is Paris?", { session })).finalOutput)

await session.close()
await sessions.close()
export {}
