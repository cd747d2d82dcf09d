import { type ContextMessage, createSessions, type NewMessage } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

// Replace this with your model: it takes messages and returns one.
async function ask(messages: readonly ContextMessage[]): Promise<NewMessage> {
  return { role: "assistant", content: `I have read ${messages.length} messages.` }
}

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.create({ cwd: "/project" })

// A turn. Every awaited append is in the log, even if the process crashes now.
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "fix the tests" } })
  for (;;) {
    try {
      await turn.makeRoom()
      const { messages } = await turn.context()
      return await turn.append({ type: "message", message: await ask(messages) })
    } catch (error) {
      await turn.makeRoom({ error }) // if it was too long for the model; any other error is thrown on
    }
  }
})

// Later, in another process: reads the end of the log, not the history.
const again = await sessions.open(session.id)
console.log((await again.context()).messages.length)
for (const info of (await sessions.list({ limit: 20 })).sessions) console.log(info.firstPrompt, info.messageCount)
await sessions.close()
export {}
