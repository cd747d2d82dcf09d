/** An agent with the AI SDK, which runs the tools and asks again by itself; each step is in the log when it has ended. */
import { anthropic } from "@ai-sdk/anthropic"
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { appendAiSdkStream, toAiSdk } from "@sessions/providers/ai-sdk"
import { stepCountIs, streamText, tool } from "ai"
import { z } from "zod"

const model = anthropic("claude-sonnet-5-5") // reads ANTHROPIC_API_KEY
const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `weather in ${city}: sunny`,
})

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("with-ai-sdk")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What is the weather in Paris?" } })
  for (;;) {
    try {
      await makeRoom(turn)
      const { request, diagnostics } = toAiSdk(await turn.context(), { system: "Be brief.", model })
      for (const { message } of diagnostics) console.warn(message)
      const { stream } = streamText({ model, tools: { weather }, stopWhen: stepCountIs(10), ...request })
      await appendAiSdkStream(turn, stream, {
        model,
        onEvent: (part) => {
          if (part.type === "text-delta") process.stdout.write(part.text)
        },
      })
      break
    } catch (error) {
      await makeRoom(turn, { error }) // if it was too long; any other error is thrown on
    }
  }
})
console.log()
await sessions.close()
