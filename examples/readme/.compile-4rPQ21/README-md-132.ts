import { type ContextMessage, createSessions, type NewMessage } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"

const storage = createIndexedDbStorage({ database: "my-agent" })
const sessions = createSessions({ storage })
const session = await sessions.openOrCreate("chat-1")
// Replace this with your model, called with `fetch`.
async function ask(messages: readonly ContextMessage[]): Promise<NewMessage> {
  return { role: "assistant", content: `I have read ${messages.length} messages.` }
}

await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "hello" } })
  for (;;) {
    try {
      await turn.makeRoom()
      const { messages } = await turn.context()
      return await turn.append({ type: "message", message: await ask(messages) })
    } catch (error) {
      await turn.makeRoom({ error })
    }
  }
})

const { messages } = await session.context() // also after a reload
console.log(messages.length)
for (const info of (await sessions.list({ limit: 20 })).sessions) console.log(info.firstPrompt, info.messageCount)
await sessions.close()
export {}
