import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("chat-1", { cwd: process.cwd() })
await session.append({ type: "message", message: { role: "user", content: "hello" } })
await sessions.close()

// Later, in another process:
const later = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const again = await later.open("chat-1")
const { messages } = await again.context()
console.log(messages.length, messages[0]?.message.role) // 1 user
await later.close()
export {}
