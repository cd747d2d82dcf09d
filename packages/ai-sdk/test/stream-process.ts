/** `stream-process.ts STORAGE ROOT`: a run whose model says words until it is stopped. Exits when the run has ended. */
import { createSessions } from "@sessions/core"
import { createUIMessageStreamResponse, readUIMessageStream, streamText, toUIMessageStream, type UIMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { createChatStore, createChatStreams } from "@sessions/ai-sdk"
import { type Chunk, user } from "./model.ts"
import { openStorage } from "./storage-of-process.ts"

const [kind = "", root = ""] = process.argv.slice(2)
const sessions = createSessions({ storage: openStorage(kind, root) })
const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream, batchMs: 5 })
const messages = [user("u1", "Talk")]
const { signal, consumeSseStream } = await streams.start({ chatId: "c", messages })

let said = 0
const model = new MockLanguageModelV4({
  doStream: async ({ abortSignal }) => ({
    stream: new ReadableStream<Chunk>({
      start(controller) {
        controller.enqueue({ type: "text-start", id: "t" })
        abortSignal?.addEventListener("abort", () => controller.error(abortSignal.reason))
      },
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        if (abortSignal?.aborted !== true) controller.enqueue({ type: "text-delta", id: "t", delta: `${said++} ` })
      },
    }),
  }),
})
const result = streamText({ model, prompt: "Talk", abortSignal: signal })
const response = createUIMessageStreamResponse({
  stream: toUIMessageStream({
    stream: result.stream,
    ...createChatStore<UIMessage>(sessions).persist({ chatId: "c", messages }),
  }),
  async consumeSseStream(o) {
    await consumeSseStream(o)
    await sessions.close()
  },
})
// The page has gone.
await response.body?.cancel()
