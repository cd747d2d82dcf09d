import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createIndexedDbStorage } from "@sessions/idb"

export async function openChat({ database, id, ask }) {
  const sessions = createSessions({ storage: createIndexedDbStorage({ database }) })
  const session = await sessions.openOrCreate(id)
  const askInRoom = async (turn) => {
    for (;;) {
      try {
        await makeRoom(turn)
        const { messages } = await turn.context()
        return await ask(messages.map(({ message }) => toRow(message)))
      } catch (error) {
        await makeRoom(turn, { error })
      }
    }
  }
  return {
    send: (text) =>
      session.turn(async (turn) => {
        await turn.append({ type: "message", message: { role: "user", content: text } })
        const answer = await askInRoom(turn)
        await turn.append({ type: "message", message: { role: "assistant", content: answer } })
        return answer
      }),
    async history() {
      await session.refresh()
      const rows = []
      let before
      do {
        const page = await session.messages({ limit: 1000, ...(before && { before }) })
        rows.unshift(...page.messages.map(({ message }) => toRow(message)))
        before = page.before
      } while (before)
      return rows
    },
    close: () => sessions.close(),
  }
}

function toRow({ role, content }) {
  return { role, text: typeof content === "string" ? content : content.map((block) => block.text ?? "").join("") }
}
