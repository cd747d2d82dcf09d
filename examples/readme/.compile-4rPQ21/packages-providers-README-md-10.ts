import Anthropic from "@anthropic-ai/sdk"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { fromAnthropic, toAnthropic } from "@sessions/providers/anthropic"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("chat-1")
await session.append({ type: "message", message: { role: "user", content: "hello" } })

for (let answered = false; !answered; ) {
  try {
    await session.makeRoom()
    const { request } = toAnthropic(await session.context(), { system: "Be brief.", cache: true })
    const answer = await new Anthropic().messages.create({ model: "claude-sonnet-5-5", max_tokens: 4096, ...request })
    await session.append(fromAnthropic(answer))
    answered = true
  } catch (error) {
    await session.makeRoom({ error }) // if it was too long for the model; any other error is thrown on
  }
}
await sessions.close()
export {}
