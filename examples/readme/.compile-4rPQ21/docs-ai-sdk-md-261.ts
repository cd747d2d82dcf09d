import { chatResult, createChatStore, openChatLog, withRepair } from "@sessions/ai-sdk"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/ai-sdk"
import {
  consumeStream,
  convertToModelMessages,
  createUIMessageStreamResponse,
  isStepCount,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai"
import { z } from "zod"

const charged = new Map<string, string>() // in place of a payment service that takes a key
const charge = tool({
  inputSchema: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: async ({ amount }, options) => {
    const { key } = executionOf(options)
    charged.set(key, `charged ${amount}`)
    return `charged ${amount}`
  },
})
const sessions = createSessions({ storage: createMemoryStorage() })
const store = createChatStore<UIMessage>(sessions)
const toModelMessages = withRepair(convertToModelMessages)

export async function answer(request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { id: string; message: UIMessage }
  const session = await openChatLog(sessions, id)
  const calls = createToolCalls(session, {
    tools: { charge: "never" },
    toResult: chatResult, // so that loadChat gives the results
    onUnknown: ({ key = "" }) => {
      const output = charged.get(key) // ask the service by the key
      return output === undefined ? undefined : { output }
    },
  })
  await calls.resume({}) // what a server that was killed in a tool has left
  const messages = await store.addMessage({ id, message })
  if (message.role === "user") await session.append(calls.record)
  const tools = wrapTools(calls, { charge })
  const result = streamText({
    model: "openai/gpt-5",
    messages: await toModelMessages(messages, { tools }),
    tools,
    stopWhen: isStepCount(10),
  })
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
    async consumeSseStream(response) {
      await consumeStream(response).finally(() => session.close())
    },
  })
}
export {}
