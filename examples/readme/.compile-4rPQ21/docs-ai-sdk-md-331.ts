import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createChatStore, createChatStreams, withRepair } from "@sessions/ai-sdk"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  readUIMessageStream,
  streamText,
  toUIMessageStream,
  UI_MESSAGE_STREAM_HEADERS,
  type UIMessage,
} from "ai"

const sessions = createSessions({ storage: createMemoryStorage() })
const store = createChatStore<UIMessage>(sessions)
const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream })
const toModelMessages = withRepair(convertToModelMessages)

/** POST /api/chat */
export async function POST(request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { id: string; message: UIMessage }
  // A run that is still active ends first, and what it has said is in the messages.
  await streams.stop(id)
  const messages = await store.addMessage({ id, message })
  const run = await streams.start({ chatId: id, messages })
  const result = streamText({
    model: "openai/gpt-5",
    messages: fitAiSdk(await toModelMessages(messages), { model: "openai/gpt-5" }),
    abortSignal: run.signal,
  })
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
    consumeSseStream: run.consumeSseStream,
  })
}

/** GET /api/chat/ID/stream, which `useChat({ resume: true })` asks for */
export async function GET(id: string): Promise<Response> {
  const stream = await streams.resume(id)
  if (stream === null) return new Response(null, { status: 204 })
  return new Response(stream, { headers: UI_MESSAGE_STREAM_HEADERS })
}

/** POST /api/chat/ID/stop, which a stop button asks for */
export async function STOP(id: string): Promise<Response> {
  await streams.stop(id)
  return Response.json({ success: true })
}
export {}
