import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.create()
await session.append({ type: "message", message: { role: "user", content: "hello" } })
console.log((await session.info()).messageCount) // 1
export {}
