import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

const location = createMemoryLocation()
const agent = await createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("chat")
const viewer = await createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("chat")

await agent.append({ type: "message", message: { role: "user", content: "hello" } })
await viewer.refresh() // once; `follow()` does it whenever something comes
console.log((await viewer.messages()).messages.length) // 1
export {}
