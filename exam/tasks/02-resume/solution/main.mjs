import { createSessions, hasCode } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { answer } from "./model.mjs"

const [root, text, count] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
if (text === "--last") await printLast(Number(count))
else await ask(text)
await sessions.close()

async function ask(question) {
  const session = await sessions.openOrCreate("conversation")
  const said = await session.turn(async (turn) => {
    await turn.append({ type: "message", message: { role: "user", content: question } })
    const content = await answerIn(turn)
    await turn.append({ type: "message", message: { role: "assistant", content } })
    return content
  })
  console.log(said)
}

async function answerIn(turn) {
  for (;;) {
    try {
      await makeRoom(turn)
      const { messages } = await turn.context()
      return await answer(messages.map(({ message }) => ({ role: message.role, content: textOf(message) })))
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

async function printLast(limit) {
  let session
  try {
    session = await sessions.open("conversation")
  } catch (error) {
    if (hasCode(error, "not_found")) return
    throw error
  }
  for (const { message } of (await session.messages({ limit })).messages)
    console.log(`${message.role}: ${textOf(message)}`)
}

/** Contents are lists of blocks, also those that were appended as a text. */
function textOf({ content }) {
  return content.map(({ text }) => text).join("")
}
