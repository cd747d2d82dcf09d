import { createSessions, hasCode } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { answer } from "./model.mjs"

const [root, id, number, text] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
try {
  const session = await sessions.open(id)
  await session.turn(async (turn) => {
    const question = await questionOf(turn, Number(number))
    const { parentId } = await turn.entry(question)
    await turn.append({ type: "message", message: { role: "user", content: text } }, { at: parentId })
    const content = await answerIn(turn)
    await turn.append({ type: "message", message: { role: "assistant", content } })
    console.log(content)
  })
} catch (error) {
  if (!hasCode(error, "not_found") && !(error instanceof RangeError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
await sessions.close()

async function answerIn(turn) {
  for (;;) {
    try {
      await makeRoom(turn)
      const { messages } = await turn.context()
      return await answer(messages.map(({ message: { role, content } }) => ({ role, content: textOf(content) })))
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

async function questionOf(session, number) {
  const messages = []
  let before
  do {
    const page = await session.messages({ limit: 1000, ...(before && { before }) })
    messages.unshift(...page.messages)
    before = page.before
  } while (before)
  const question = messages.filter(({ message }) => message.role === "user")[number - 1]
  if (question === undefined) throw new RangeError(`There is no question ${number}.`)
  return question.entryId
}

function textOf(content) {
  return content.map((block) => block.text ?? "").join("")
}
