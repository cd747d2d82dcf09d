import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const storage = createMemoryStorage()
const header = { type: "session", format: "@sessions", version: 99, id: "chat-1", timestamp: "2030-01-01T00:00:00.000Z" }
await storage.append("chat-1", [JSON.stringify(header)], { expect: 0 }) // what a newer program wrote

const session = await createSessions({ storage }).open("chat-1")
const entry = { type: "message", message: { role: "user", content: "hello" } } as const
await session.append(entry).catch((error) => console.log(hasCode(error, "newer_version"))) // true
export {}
