/** The routes of the chat, as functions from requests to responses: for Next.js, Hono, `Bun.serve`, `Deno.serve` and others. */
import { chatResult, createChatStore, createChatStreams, openChatLog, withRepair } from "@sessions/ai-sdk"
import type { Sessions } from "@sessions/core"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { createToolCalls, type ToolCallsOptions } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/ai-sdk"
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  type LanguageModel,
  readUIMessageStream,
  isStepCount,
  streamText,
  type ToolSet,
  toUIMessageStream,
  UI_MESSAGE_STREAM_HEADERS,
  type UIMessage,
} from "ai"

const toModelMessages = withRepair(convertToModelMessages)

/** A server has to check in each route whose chat it is. `recorded`: which of the tools must not be repeated; they need approval. */
export function createRoutes(
  sessions: Sessions,
  model: LanguageModel,
  given: ToolSet = {},
  recorded: ToolCallsOptions = { tools: {} },
): (request: Request) => Promise<Response> {
  const store = createChatStore<UIMessage>(sessions)
  const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream })

  /** POST /api/chat */
  async function ask(request: Request): Promise<Response> {
    const { id, messages: sent } = (await request.json()) as { id: string; messages: UIMessage[] }
    // A run that is still active ends first, and what it has said is in the chat.
    await streams.stop(id)
    const message = sent.at(-1)
    if (message === undefined) return new Response("no message", { status: 400 })
    const session = await openChatLog(sessions, id)
    const calls = createToolCalls(session, { ...recorded, toResult: chatResult })
    const tools = wrapTools(calls, given)
    // What a server has left that was killed in a tool is settled before the model hears of it.
    await calls.resume({})
    const messages = await store.addMessage({ id, message })
    if (message.role === "user") await session.append(calls.record)
    const run = await streams.start({ chatId: id, messages })
    const result = streamText({
      model,
      tools,
      stopWhen: isStepCount(20),
      // Also after a tool that never ended, as when the server was killed in it, and after answers of another model.
      messages: fitAiSdk(await toModelMessages(messages, { tools }), { model }),
      abortSignal: run.signal,
    })
    return createUIMessageStreamResponse({
      stream: toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: id, messages }) }),
      async consumeSseStream(response) {
        await run.consumeSseStream(response)
        await session.close()
      },
    })
  }

  /** GET /api/chat/ID/stream: `useChat({ resume: true })` asks for it. */
  async function resume(id: string): Promise<Response> {
    const stream = await streams.resume(id)
    if (stream === null) return new Response(null, { status: 204 })
    return new Response(stream, { headers: UI_MESSAGE_STREAM_HEADERS })
  }

  return async (request) => {
    const [, id = "", action] = /^\/api\/chat(?:\/([^/]+)\/(stream|stop))?$/.exec(new URL(request.url).pathname) ?? []
    if (action === "stream") return await resume(decodeURIComponent(id))
    if (action === undefined) return await ask(request)
    await streams.stop(decodeURIComponent(id))
    return Response.json({ success: true })
  }
}
