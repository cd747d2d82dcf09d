import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const laptop = createSessions({ storage: createMemoryStorage() })
const server = createMemoryStorage()

const session = await laptop.create()
await session.append({ type: "message", message: { role: "user", content: "on the train" } })
await session.close()
const { sent, received, openTips } = await laptop.merge(session.id, server)
export {}
