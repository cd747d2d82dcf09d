import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
await session.append([
  { type: "message", id: "q", message: { role: "user", content: "What does this do? " + "x".repeat(400) } },
  { type: "message", message: { role: "assistant", content: "It counts." } },
  { type: "message", message: { role: "user", content: "And now?" } },
])
console.log((await session.context()).reused) // { tokens: 105 }
await session.edit("q", { content: "What does this do?" })
console.log((await session.context()).reused.brokenBy?.reason) // "edit"
export {}
