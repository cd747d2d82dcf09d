import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
await sessions.create({ id: "chat-1" })
const { damaged, diagnostics } = await sessions.verify("chat-1")
console.log(damaged, diagnostics.length) // false 0
export {}
