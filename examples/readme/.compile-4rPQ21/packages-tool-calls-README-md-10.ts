import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createToolCalls } from "@sessions/tool-calls"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("shop")
const calls = createToolCalls(session, { tools: { charge: "never", read_file: "safe" } })

await session.turn(async (turn) => {
  await turn.append([{ type: "message", message: { role: "user", content: "Charge 5." } }, calls.record])
  const call = { type: "toolCall", id: "c1", name: "charge", arguments: { amount: 5 } } as const
  await turn.append({ type: "message", message: { role: "assistant", content: [call] } })
  // The key is the same in every attempt, in every process: pass it to the payment service.
  await calls.run(call, async ({ key, arguments: args }) => `charged ${args["amount"]}, ${key.length} digits`)
})
const { messages } = await session.context()
console.log(messages.at(-1)?.message.content) // [ { type: 'text', text: 'charged 5, 32 digits' } ]
await sessions.close()
export {}
