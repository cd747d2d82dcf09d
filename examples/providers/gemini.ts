/** An agent with Google's client: it asks, runs the functions that the model calls, and asks again. */
import { GoogleGenAI, type Tool, Type } from "@google/genai"
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { appendGeminiStream, toGemini } from "@sessions/providers/gemini"

const client = new GoogleGenAI({}) // reads GEMINI_API_KEY
const model = "gemini-2.5-flash"
const tools: Tool[] = [
  {
    functionDeclarations: [
      {
        name: "weather",
        description: "The weather in a city",
        parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] },
      },
    ],
  },
]
const run = async (name: string, { city }: { city?: string }): Promise<string> => `${name} in ${city}: sunny`

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("with-gemini")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "What is the weather in Paris?" } })
  // At most ten steps.
  for (let step = 0; step < 10; step++) {
    try {
      await makeRoom(turn)
      const { request, diagnostics } = toGemini(await turn.context(), { system: "Be brief.", model })
      for (const { message } of diagnostics) console.warn(message)
      const stream = client.models.generateContentStream({
        model,
        contents: request.contents,
        config: { ...request.config, tools },
      })
      const answer = await appendGeminiStream(turn, stream, {
        onEvent: ({ candidates }) => {
          for (const { text, thought } of candidates?.[0]?.content?.parts ?? [])
            if (text && !thought) process.stdout.write(text)
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
