import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const full = await sessions.create()
await full.append({ type: "message", message: { role: "user", content: "hello" } })

const { messages } = await full.context()
const next = await sessions.create({
  parentSession: { id: full.id },
  entries: messages.map(({ message }) => ({ type: "message", message })),
})
console.log((await next.context()).messages.length) // 1
export {}
