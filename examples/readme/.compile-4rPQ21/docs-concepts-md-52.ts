import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const { ids } = await session.append([
  { type: "message", message: { role: "user", content: "Name a colour." } },
  { type: "message", message: { role: "assistant", content: "Red." } },
])
await session.branch(ids[0]!) // back to the question
await session.append({ type: "message", message: { role: "assistant", content: "Blue." } })

console.log((await session.context()).messages.length) // 2
console.log((await session.info()).messageCount) // 3
export {}
