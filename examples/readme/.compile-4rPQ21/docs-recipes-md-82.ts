import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const { ids } = await session.append([
  { type: "message", message: { role: "user", content: "one" } },
  { type: "message", message: { role: "assistant", content: "1" } },
  { type: "message", message: { role: "user", content: "two" } },
])
await session.branch(ids[1]!)
console.log((await session.context()).messages.length) // 2
export {}
