import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createChatStore } from "@sessions/ai-sdk"
import { toAiSdk } from "@sessions/providers/ai-sdk"
import { consumeStream, createUIMessageStreamResponse, generateText, streamText, toUIMessageStream, type UIMessage } from "ai"

const model = "openai/gpt-5"
const sessions = createSessions({
  storage: createMemoryStorage(),
  compaction: { summarize: ({ system, prompt, signal }) => generateText({ model, system, prompt, abortSignal: signal }) },
})
const store = createChatStore<UIMessage>(sessions)

export async function POST(request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { id: string; message: UIMessage }
  const messages = await store.addMessage({ id, message })
  const { request: context } = toAiSdk(await contextOf(id), { model: { provider: model } })
  const result = streamText({
    model,
    ...context,
    // If the request was too long, the one that the page sends again is shorter. Any other error is thrown on.
    onError: ({ error }) => void contextOf(id, error).catch(console.error),
  })
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
    consumeSseStream: consumeStream,
  })
}

async function contextOf(id: string, error?: unknown) {
  const session = await sessions.open(id)
  try {
    await session.makeRoom({ error })
    return await session.context()
  } finally {
    await session.close()
  }
}
export {}
