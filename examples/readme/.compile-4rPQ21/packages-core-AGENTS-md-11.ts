import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

// One repository for each storage, made once for the process.
const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })

const session = await sessions.openOrCreate("chat-1") // or create(), open(id), continueRecent({ cwd })
const answer = await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "hello" } })
  const { messages } = await turn.context() // [{ entryId, kind, message }]
  const content = `I have read ${messages.length} messages.` // call the model here; for a provider's client see @sessions/providers
  await turn.append({ type: "message", message: { role: "assistant", content } })
  return content
})
console.log(answer) // I have read 1 messages.
await sessions.close()
export {}
