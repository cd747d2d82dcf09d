import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createChatStore, repairMessages } from "@sessions/ai-sdk"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { consumeStream, createAgentUIStreamResponse, ToolLoopAgent, type UIMessage } from "ai"

const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
const agent = new ToolLoopAgent({
  model: "openai/gpt-5",
  prepareCall: ({ prompt, messages: _, ...call }) => ({
    ...call,
    prompt: typeof prompt === "string" ? prompt : fitAiSdk(prompt ?? [], { model: "openai/gpt-5" }),
  }),
})

export async function POST(request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { id: string; message: UIMessage }
  const messages = await store.addMessage({ id, message })
  return createAgentUIStreamResponse({
    agent,
    uiMessages: repairMessages(messages),
    ...store.persist({ chatId: id, messages }),
    consumeSseStream: consumeStream,
  })
}
export {}
