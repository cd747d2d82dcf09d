import { createSessions } from "@sessions/core"
import { automaticCompaction, makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"

export async function openChat({ folder, id, window, ask, summarize }) {
  const sessions = createSessions({
    storage: createFileStorage({ root: folder }),
    compaction: automaticCompaction({
      contextWindow: window,
      summarize: ({ system, prompt }) => summarize(`${system}\n\n${prompt}`),
    }),
  })
  const session = await sessions.openOrCreate(id)
  return {
    send: (text) =>
      session.turn(async (turn) => {
        await turn.append({ type: "message", message: { role: "user", content: text } })
        for (;;) {
          try {
            await makeRoom(turn)
            const { messages } = await turn.context()
            const answer = await ask(messages.map(({ message }) => toRow(message)))
            await turn.append({ type: "message", message: { role: "assistant", content: answer } })
            return answer
          } catch (error) {
            await makeRoom(turn, { error })
          }
        }
      }),
    async history() {
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
  return { role, text: content.map((block) => block.text ?? "").join("") }
}
