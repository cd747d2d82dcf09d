import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toolCalls, toolResult } from "@sessions/providers"
import { fromOpenAIChat, toOpenAIChat } from "@sessions/providers/openai-chat"
import { complete } from "./model.mjs"
import { lookup } from "./tools.mjs"

const [root, question] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.openOrCreate("agent")
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: question } })
  for (;;) {
    const completion = await ask(turn)
    const entry = fromOpenAIChat(completion)
    await turn.append(entry)
    const calls = toolCalls(entry)
    if (calls.length === 0) {
      console.log(completion.choices[0].message.content)
      return
    }
    for (const call of calls) await turn.append(toolResult(call, await lookup(call.arguments)))
  }
})
await sessions.close()

async function ask(turn) {
  for (;;) {
    try {
      await makeRoom(turn)
      const { request } = toOpenAIChat(await turn.context())
      return await complete(request)
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}
