import { Agent, run, tool } from "@openai/agents"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { agentResult, createAgentSession, openAgentLog } from "@sessions/openai-agents"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/openai-agents"
import { z } from "zod"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = createAgentSession({ sessions, sessionId: "chat-42" })
const charged = new Map<string, string>() // in place of a payment service that takes a key
const calls = createToolCalls(await openAgentLog(sessions, "chat-42"), {
  tools: { charge: "never" },
  toResult: agentResult, // so that the history has the results
  onUnknown: ({ key = "" }) => {
    const output = charged.get(key) // ask the service by the key
    return output === undefined ? undefined : { output }
  },
})
const charge = tool({
  name: "charge",
  description: "Charges the card",
  parameters: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: async ({ amount }, _, details) => {
    charged.set(executionOf(details ?? {}).key, `charged ${amount}`)
    return `charged ${amount}`
  },
})
const agent = new Agent({ name: "shop", tools: wrapTools(calls, [charge]), modelSettings: { parallelToolCalls: false } })

await calls.resume({}) // what a process that was killed in a tool has left
let result = await run(agent, "Charge 5.", { session })
while (result.interruptions.length > 0) {
  for (const interruption of result.interruptions) result.state.approve(interruption)
  result = await run(agent, result.state, { session })
}
await sessions.close()
export {}
