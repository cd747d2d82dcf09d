import type { AgentInputItem } from "@openai/agents"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession } from "@sessions/openai-agents"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "chat-42" })
const items = await session.getItems()
const question = items.findLastIndex((item) => "role" in item && item.role === "user")
if (question >= 0)
  await session.applyHistoryTransaction({
    operationId: crypto.randomUUID(), // the same one if the call is repeated
    transaction: { type: "replace_suffix", expectedSuffix: items.slice(question), replacement: [] },
  })
await sessions.close()
export {}
