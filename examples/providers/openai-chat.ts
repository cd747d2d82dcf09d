/** An agent with OpenAI's client and the Chat Completions API: it asks, runs the tools that the model calls, and asks again. */
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { appendOpenAIChatStream, toOpenAIChat } from "@sessions/providers/openai-chat"
import OpenAI from "openai"

const client = new OpenAI() // reads OPENAI_API_KEY, and OPENAI_BASE_URL for other providers with this API
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "The weather in a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
]
const run = async (name: string, { city }: { city?: string }): Promise<string> => `${name} in ${city}: sunny`

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("with-openai-chat")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What is the weather in Paris?" } })
  // At most ten steps.
  for (let step = 0; step < 10; step++) {
    try {
      await makeRoom(turn)
      const { request, diagnostics } = toOpenAIChat(await turn.context(), { system: "Be brief." })
      for (const { message } of diagnostics) console.warn(message)
      const stream = client.chat.completions.create({
        model: "gpt-5.1",
        tools,
        ...request,
        stream: true,
        stream_options: { include_usage: true },
      })
      const answer = await appendOpenAIChatStream(turn, stream, {
        onEvent: (chunk) => {
          const text = chunk.choices[0]?.delta.content
          if (text) process.stdout.write(text)
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
