import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const message = { role: "tool", content: "12:00" } // as OpenAI names it
await session.append({ type: "message", message } as never).catch((error) => console.log(hasCode(error, "invalid"))) // true
const result = { role: "toolResult", toolCallId: "call-1", content: "12:00", isError: false } as const
await session.append({ type: "message", message: result })
export {}
