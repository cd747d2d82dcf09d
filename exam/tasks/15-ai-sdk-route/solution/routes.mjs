import { createChatStore, withRepair } from "@sessions/ai-sdk"
import { createSessions, hasCode } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { convertToModelMessages, createUIMessageStreamResponse, streamText, toUIMessageStream } from "ai"

const toModelMessages = withRepair(convertToModelMessages)

export function createRoutes({ folder, model }) {
  const sessions = createSessions({ storage: createFileStorage({ root: folder }) })
  const store = createChatStore(sessions)
  const running = new Set()

  async function load(id) {
    try {
      return await store.loadChat(id)
    } catch (error) {
      if (hasCode(error, "not_found")) return []
      throw error
    }
  }

  return {
    load,
    async post(request) {
      const { id, message, trigger } = await request.json()
      const messages =
        trigger === "regenerate-message" ? upToQuestion(await load(id)) : await store.addMessage({ id, message })
      const result = streamText({ model, messages: fitAiSdk(await toModelMessages(messages), { model }) })
      const stream = toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) })
      const [page, rest] = stream.tee()
      const answer = drain(rest).finally(() => running.delete(answer))
      running.add(answer)
      return createUIMessageStreamResponse({ stream: page })
    },
    async list() {
      const found = []
      let cursor
      do {
        const page = await store.listChats({ limit: 200, ...(cursor && { cursor }) })
        for (const { id, title, firstPrompt } of page.chats) found.push({ id, title: title ?? firstPrompt })
        cursor = page.next
      } while (cursor)
      return found
    },
    async close() {
      await Promise.allSettled(running)
      await sessions.close()
    },
  }
}

function upToQuestion(messages) {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1)
}

/** Reads the answer to its end when the page has gone away. */
async function drain(stream) {
  const reader = stream.getReader()
  while (!(await reader.read()).done);
}
