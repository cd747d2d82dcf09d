import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.create()
await session.append({ type: "message", message: { role: "user", content: "Why is the sky blue?" } })
await session.title("The sky")

let cursor: string | undefined
do {
  const page = await sessions.list({ limit: 50, ...(cursor && { cursor }) })
  for (const { title, firstPrompt, messageCount } of page.sessions) console.log(title ?? firstPrompt, messageCount) // The sky 1
  cursor = page.next
} while (cursor)
export {}
