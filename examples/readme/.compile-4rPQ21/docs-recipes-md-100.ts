import { createSessions, type Summarize } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

// Replace this with your model.
const summarize: Summarize = async ({ prompt }) => `## Goal\n${prompt.length > 0 ? "A summary." : ""}`

const sessions = createSessions({
  storage: createMemoryStorage(),
  compaction: { summarize, contextWindow: 8_000, keepRecentTokens: 500 },
})
const session = await sessions.create()
for (let turn = 0; turn < 10; turn++)
  await session.turn(async () => {
    await session.append({ type: "message", message: { role: "user", content: `question ${turn}` } })
    await session.append({ type: "message", message: { role: "assistant", content: "a long answer ".repeat(300) } })
  })
console.log((await session.context({ window: 8_000 })).fits) // true
console.log((await session.info()).messageCount) // 20
export {}
