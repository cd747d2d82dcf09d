import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("chat-1")

await session.append({ type: "message", message: { role: "user", content: "What is six times seven?" } })
const { messages } = await session.context() // what the model gets, also after a crash, in another process, or a year later
await session.append({ type: "message", message: { role: "assistant", content: "Forty-two." } })

console.log(`${messages.length} sent, ${(await session.info()).messageCount} stored`)
await sessions.close()
export {}
