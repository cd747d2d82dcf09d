import { createSessions, type Summarize } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.continueRecent({ cwd: process.cwd(), pointer: "terminal-1" })
const { ids } = await session.append([
  { type: "message", message: { role: "user", content: "try it with a cache" } },
  { type: "message", message: { role: "assistant", content: "Done: ".padEnd(4000, "a long answer ") } },
])

await session.branch(ids[0]) // back to the question; the first answer stays on its own branch
await session.append({ type: "message", message: { role: "assistant", content: "No: ".padEnd(4000, "longer still ") } })
await session.title("With or without a cache")

// Replace this with your model: it summarizes the messages that leave the context. The log keeps them.
const summarize: Summarize = async ({ prompt }) => `## Goal\nA summary of ${prompt.length} characters.`
await session.compact({ summarize, keepRecentTokens: 0 })

const { messages } = await session.messages({ limit: 20 }) // the whole conversation, newest page first
console.log(messages.length, (await session.context()).messages.length)
await sessions.close()
export {}
