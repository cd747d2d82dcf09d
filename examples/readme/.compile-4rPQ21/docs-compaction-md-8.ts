import { createSessions, type Summarize } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

// Your model. It takes {system, prompt, maxTokens, temperature?, signal} and returns a text or an assistant message.
const summarize: Summarize = async ({ prompt }) => ({
  content: `## Goal\nA summary of ${prompt.length} characters.`,
  stopReason: "stop",
})

const sessions = createSessions({ storage: createMemoryStorage(), compaction: { summarize } })
const session = await sessions.create()

await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "fix the tests" } })
}) // a context that is too long now has been compacted when this resolves

await session.append({ type: "message", message: { role: "assistant", content: "Done. ".padEnd(4000, "a long answer ") } })
await session.compact({ keepRecentTokens: 0 }) // by hand, whatever its size
console.log((await session.context()).messages.length)
export {}
