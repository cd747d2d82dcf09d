import Anthropic from "@anthropic-ai/sdk"
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { appendAnthropicStream, toAnthropic } from "@sessions/providers/anthropic"

const [root, chat, question] = process.argv.slice(2)
const client = new Anthropic()
const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.openOrCreate(chat)
try {
  await session.turn(async (turn) => {
    await turn.append({ type: "message", message: { role: "user", content: question } })
    for (;;) {
      try {
        await makeRoom(turn)
        const { request } = toAnthropic(await turn.context(), { system: "Be brief.", cache: true })
        const stream = client.messages.create({
          model: "claude-sonnet-5-5",
          max_tokens: 4096,
          thinking: { type: "enabled", budget_tokens: 1024 },
          ...request,
          stream: true,
        })
        return await appendAnthropicStream(turn, stream, {
          onEvent: (event) => {
            if (event.type === "content_block_delta" && event.delta.type === "text_delta")
              process.stdout.write(event.delta.text)
          },
        })
      } catch (error) {
        await makeRoom(turn, { error })
      }
    }
  })
  process.stdout.write("\n")
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
await sessions.close()
