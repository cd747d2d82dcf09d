import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("chat-1")
await session.append({ type: "message", message: { role: "user", content: "hello" } })
const { messages } = await session.context() // what the model gets
console.log(messages.length) // 1
await sessions.close()
export {}
