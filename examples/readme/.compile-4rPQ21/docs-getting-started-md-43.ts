import { type ContextMessage, createSessions, type NewMessage, type Session } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.continueRecent({ cwd: process.cwd() })

await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What time is it?" } })
  for (;;) {
    const answer = await ask(turn)
    await turn.append({ type: "message", message: answer })
    const calls = answer.content.filter((block) => block.type === "toolCall")
    if (calls.length === 0) break
    for (const call of calls) {
      const content = call.name === "clock" ? "12:00" : `There is no tool ${call.name}.`
      const isError = call.name !== "clock"
      await turn.append({ type: "message", message: { role: "toolResult", toolCallId: call.id, content, isError } })
    }
  }
})
console.log((await session.info()).messageCount) // 4
await sessions.close()

async function ask(turn: Session) {
  for (;;) {
    try {
      await turn.makeRoom()
      const { messages } = await turn.context()
      return await model(messages)
    } catch (error) {
      await turn.makeRoom({ error }) // if it was too long for the model; any other error is thrown on
    }
  }
}

// Replace this with your model: it takes the messages of the context and returns an assistant message.
async function model(messages: readonly ContextMessage[]) {
  const answered = messages.at(-1)?.message.role === "toolResult"
  const content = answered
    ? [{ type: "text" as const, text: "It is noon." }]
    : [{ type: "toolCall" as const, id: "call-1", name: "clock", arguments: {} }]
  return { role: "assistant" as const, content } satisfies NewMessage
}
export {}
