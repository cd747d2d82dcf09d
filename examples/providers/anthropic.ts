/** An agent with Anthropic's client: it asks, runs the tools that the model calls, and asks again. */
import Anthropic from "@anthropic-ai/sdk"
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { appendAnthropicStream, toAnthropic } from "@sessions/providers/anthropic"

const client = new Anthropic() // reads ANTHROPIC_API_KEY
const tools: Anthropic.Tool[] = [
  {
    name: "weather",
    description: "The weather in a city",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
]
const run = async (name: string, { city }: { city?: string }): Promise<string> => `${name} in ${city}: sunny`

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("with-anthropic")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What is the weather in Paris?" } })
  // At most ten steps.
  for (let step = 0; step < 10; step++) {
    try {
      await makeRoom(turn)
      const { request, diagnostics } = toAnthropic(await turn.context(), { system: "Be brief.", cache: true })
      for (const { message } of diagnostics) console.warn(message)
      const stream = client.messages.create({
        model: "claude-sonnet-5-5",
        max_tokens: 4096,
        tools,
        ...request,
        stream: true,
      })
      const answer = await appendAnthropicStream(turn, stream, {
        onEvent: (event) => {
          if (event.type === "content_block_delta" && event.delta.type === "text_delta")
            process.stdout.write(event.delta.text)
        },
      })
      if (answer.stopReason === "aborted") throw new Error("The connection was lost; the log has what arrived.")
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
