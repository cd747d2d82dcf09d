import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.openOrCreate("chat-1") // opens it, or creates it
console.log((await session.info()).messageCount) // 0
export {}
