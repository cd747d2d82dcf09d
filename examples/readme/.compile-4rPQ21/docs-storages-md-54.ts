import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.create({ id: "chat-1" })
await session.append({ type: "message", message: { role: "user", content: "hello" } })

const to = createSqliteStorage({ path: "./sessions.db" })
await sessions.copy("chat-1", to)
const moved = await createSessions({ storage: to }).open("chat-1")
console.log((await moved.info()).messageCount) // 1
export {}
