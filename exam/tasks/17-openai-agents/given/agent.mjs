/** The agent: `createAgent()` makes it for one question. It calls the tool `book` first and then says how many items it was given. */
import { Agent, tool } from "@openai/agents-core"
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing"
import { z } from "zod"

export function createAgent() {
  const book = tool({
    name: "book",
    description: "Books a hotel",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `booked in ${city}`,
  })
  const call = functionCall("book", { city: "Paris" }, { callId: `call-${Date.now()}` })
  const last = ({ request }) => [assistantMessage(`I was given ${request.input.length} items.`)]
  const model = new ScriptedModel([[call], { type: "responder", respond: last }])
  return new Agent({ name: "guide", tools: [book], model })
}
