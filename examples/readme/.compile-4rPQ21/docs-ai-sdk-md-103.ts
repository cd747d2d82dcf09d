import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createChatStore, withRepair } from "@sessions/ai-sdk"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from "ai"

const sessions = createSessions({ storage: createMemoryStorage() })
const store = createChatStore<UIMessage>(sessions)
const toModelMessages = withRepair(convertToModelMessages)
const running = new Set<Promise<void>>()

export async function regenerate(id: string): Promise<Response> {
  const stored = await store.loadChat(id)
  // Up to the last question: the first save of the new answer leaves the old one on a branch.
  const messages = stored.slice(0, stored.findLastIndex(({ role }) => role === "user") + 1)
  const result = streamText({
    model: "openai/gpt-5",
    messages: fitAiSdk(await toModelMessages(messages), { model: "openai/gpt-5" }),
  })
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
    consumeSseStream({ stream }) {
      const saved = consumeStream({ stream, onError: console.error }).finally(() => running.delete(saved))
      running.add(saved)
    },
  })
}

/** After the server has stopped taking requests. */
export async function close(): Promise<void> {
  await Promise.all(running)
  await sessions.close()
}
export {}
