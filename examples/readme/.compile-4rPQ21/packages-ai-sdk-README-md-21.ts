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

const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
const toModelMessages = withRepair(convertToModelMessages)

export async function POST(request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { id: string; message: UIMessage }
  // Creates the chat with its first message.
  const messages = await store.addMessage({ id, message })
  const result = streamText({
    model: "openai/gpt-5",
    messages: fitAiSdk(await toModelMessages(messages), { model: "openai/gpt-5" }),
  })
  return createUIMessageStreamResponse({
    // Saves the chat after each step and at the end.
    stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
    // Reads the answer to its end, so that all of it is saved if the page goes away.
    consumeSseStream: consumeStream,
  })
}
export {}
