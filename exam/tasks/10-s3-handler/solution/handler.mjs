import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createS3Storage } from "@sessions/s3"

export function createHandler({ client, bucket, ask }) {
  const sessions = createSessions({ storage: createS3Storage({ client, bucket }) })
  return async (request) => {
    const question = await questionIn(request)
    if (question === undefined) return Response.json({ error: "{ chat, request, text }, please" }, { status: 400 })
    const session = await sessions.openOrCreate(question.chat)
    try {
      return await session.turn((turn) => answer(turn, question))
    } finally {
      await session.close()
    }
  }

  async function askInRoom(turn) {
    for (;;) {
      try {
        await makeRoom(turn)
        const { messages } = await turn.context()
        return await ask(messages.map(({ message }) => ({ role: message.role, text: textOf(message) })))
      } catch (error) {
        await makeRoom(turn, { error })
      }
    }
  }

  async function answer(turn, { request: id, text }) {
    const known = await storedAnswer(turn, id)
    if (known !== undefined) return Response.json({ text: known })
    await turn.append({ type: "message", id, message: { role: "user", content: text } })
    let said
    try {
      said = await askInRoom(turn)
    } catch (error) {
      return Response.json({ error: String(error) }, { status: 502 })
    }
    await turn.append({ type: "message", message: { role: "assistant", content: said } })
    return Response.json({ text: said })
  }
}

async function storedAnswer(session, id) {
  let [before, next] = [undefined, undefined]
  do {
    const page = await session.messages(before === undefined ? {} : { before })
    for (const { entryId, message } of [...page.messages].reverse()) {
      if (entryId === id) return next?.role === "assistant" ? textOf(next) : undefined
      next = message
    }
    before = page.before
  } while (before)
  return undefined
}

async function questionIn(request) {
  try {
    const { chat, request: id, text } = await request.json()
    const isRight = [chat, id, text].every((value) => typeof value === "string" && value !== "")
    return isRight && /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id) ? { chat, request: id, text } : undefined
  } catch {
    return undefined
  }
}

function textOf({ content }) {
  return content.map((block) => block.text ?? "").join("")
}
