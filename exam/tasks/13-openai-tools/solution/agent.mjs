import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { fromOpenAIChat, toOpenAIChat } from "@sessions/providers/openai-chat"
import OpenAI from "openai"
import { definitions, functions } from "./tools.mjs"

const [root, chat, question] = process.argv.slice(2)
const client = new OpenAI()
const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.openOrCreate(chat)
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: question } })
  for (;;) {
    const completion = await ask(turn)
    const answer = fromOpenAIChat(completion)
    await turn.append(answer)
    const calls = toolCalls(answer)
    for (const call of calls) await turn.append(await resultOf(call))
    if (calls.length > 0) continue
    console.log(completion.choices[0].message.content)
    return
  }
})
await sessions.close()

async function ask(turn) {
  for (;;) {
    try {
      await makeRoom(turn)
      const { request } = toOpenAIChat(await turn.context(), { system: "Be brief." })
      return await client.chat.completions.create({ model: "gpt-5.1", tools: definitions, ...request })
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

async function resultOf(call) {
  try {
    if (!Object.hasOwn(functions, call.name)) throw new Error(`There is no tool ${call.name}.`)
    return toolResult(call, await functions[call.name](call.arguments))
  } catch (error) {
    return toolResult(call, error, { isError: true })
  }
}
