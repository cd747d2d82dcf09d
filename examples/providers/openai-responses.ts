/** An agent with OpenAI's client and the Responses API: it asks, runs the tools that the model calls, and asks again. */
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { appendOpenAIResponsesStream, toOpenAIResponses } from "@sessions/providers/openai-responses"
import OpenAI from "openai"

const client = new OpenAI() // reads OPENAI_API_KEY
const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "weather",
    description: "The weather in a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    strict: true,
  },
]
const run = async (name: string, { city }: { city?: string }): Promise<string> => `${name} in ${city}: sunny`

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("with-openai-responses")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What is the weather in Paris?" } })
  // At most ten steps.
  for (let step = 0; step < 10; step++) {
    try {
      await makeRoom(turn)
      const { request, diagnostics } = toOpenAIResponses(await turn.context(), { system: "Be brief." })
      for (const { message } of diagnostics) console.warn(message)
      // The log has the conversation, so the API need not store it. Its reasoning then comes back encrypted.
      const kept = { store: false, include: ["reasoning.encrypted_content" as const] }
      const stream = client.responses.create({ model: "gpt-5.1", tools, ...kept, ...request, stream: true })
      const answer = await appendOpenAIResponsesStream(turn, stream, {
        onEvent: (event) => {
          if (event.type === "response.output_text.delta") process.stdout.write(event.delta)
        },
      })
      const calls = toolCalls(answer)
      for (const call of calls) await turn.append(toolResult(call, await run(call.name, call.arguments)))
      if (calls.length === 0) break
    } catch (error) {
      await makeRoom(turn, { error }) // if it was too long; any other error is thrown on
    }
  }
})
console.log()
await sessions.close()
