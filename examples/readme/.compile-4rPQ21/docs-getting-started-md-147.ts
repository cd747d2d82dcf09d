import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() }) // in a function: createS3Storage(…)
const session = await sessions.openOrCreate("chat-1")
const entry = { type: "message", id: "01K8ZQ4Y9G3V5N7B2M6X0CTRPD", message: { role: "user", content: "hello" } } as const
await session.append(entry)
await session.append(entry) // the client has sent it twice
console.log((await session.info()).messageCount) // 1
export {}
