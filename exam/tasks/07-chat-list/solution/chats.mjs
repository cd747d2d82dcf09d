import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

export async function openChats(folder) {
  const sessions = createSessions({ storage: createFileStorage({ root: folder }) })
  const message = (text) => ({ type: "message", message: { role: "user", content: text } })
  async function using(id, work) {
    const session = await sessions.open(id)
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  return {
    async create({ customer, text }) {
      const session = await sessions.create({ metadata: { customer }, entries: [message(text)] })
      await session.close()
      return session.id
    },
    say: (id, text) => using(id, (session) => session.append(message(text))),
    rename: (id, title) => using(id, (session) => session.title(title)),
    suggest: (id, title) => using(id, (session) => session.title(title, { source: "auto" })),
    async list({ customer, cursor }) {
      const page = await sessions.list({ metadata: { customer }, limit: 3, ...(cursor && { cursor }) })
      const chats = page.sessions.map(({ id, title, firstPrompt, messageCount }) => ({
        id,
        title: title ?? firstPrompt,
        messages: messageCount,
      }))
      return { chats, next: page.next }
    },
    remove: (id) => sessions.delete(id),
    close: () => sessions.close(),
  }
}
