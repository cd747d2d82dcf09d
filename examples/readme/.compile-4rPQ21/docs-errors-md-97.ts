import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
await sessions.create({ id: "chat-1" })
const session = await sessions.create({ id: "chat-1" }).catch((error) => {
  if (hasCode(error, "exists")) return sessions.open("chat-1")
  throw error
})
console.log(session.id) // chat-1
export {}
