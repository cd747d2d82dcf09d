import { type ContextMessage, createSessions, type NewMessage } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const tools: Record<string, (o: object) => Promise<string>> = { clock: async () => "12:00" }
const session = await createSessions({ storage: createMemoryStorage() }).create()
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What time is it?" } })
  for (;;) {
    const message = await callModel((await turn.context()).messages)
    await turn.append({ type: "message", message })
    const calls = message.content.filter((block) => block.type === "toolCall")
    if (calls.length === 0) return
    for (const { id: toolCallId, name, arguments: o } of calls) {
      const tool = tools[name]
      const content = tool === undefined ? `There is no tool ${name}.` : await tool(o)
      await turn.append({ type: "message", message: { role: "toolResult", toolCallId, content, isError: tool === undefined } })
    }
  }
})
console.log((await session.messages()).messages.map(({ message }) => message.role).join()) // user,assistant,toolResult,assistant

// Stands for the provider: calls the tool, then answers.
async function callModel(messages: readonly ContextMessage[]) {
  const called = messages.at(-1)?.message.role === "toolResult"
  const text = { type: "text" as const, text: "It is noon." }
  const call = { type: "toolCall" as const, id: "c1", name: "clock", arguments: {} }
  return { role: "assistant" as const, content: called ? [text] : [call] } satisfies NewMessage
}
export {}
