import { createSessions, type Message } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

// Your provider. It throws its client's error if the request is too long.
const ask = async (messages: readonly Message[]) => ({
  role: "assistant" as const,
  content: `I have read ${messages.length} messages.`,
  usage: { input: 40, output: 9 },
})

const summarize = async () => "## Goal\nA summary."
const session = await createSessions({ storage: createMemoryStorage(), compaction: { summarize } }).create()
await session.append({ type: "message", message: { role: "user", content: "fix the tests" } })

await session.makeRoom()
for (let answered = false; !answered; ) {
  const { messages } = await session.context()
  try {
    const message = await ask(messages.map(({ message }) => message))
    await session.append({ type: "message", message })
    answered = true
  } catch (error) {
    await session.makeRoom({ error })
  }
}
export {}
