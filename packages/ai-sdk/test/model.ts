/** A model that gives the scripted chunks of each step, and runs of it whose messages a store saves. */
import {
  isStepCount,
  isToolUIPart,
  convertToModelMessages,
  streamText,
  type ToolSet,
  toUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { type ChatStore, withRepair } from "@sessions/ai-sdk"

export const toModelMessages = withRepair(convertToModelMessages)

type StreamResult = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>
export type Chunk = StreamResult["stream"] extends ReadableStream<infer C> ? C : never

export function text(words: string, id = "t"): Chunk[] {
  return [
    { type: "text-start", id },
    ...words.split("").map((delta): Chunk => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ]
}

export function reasoning(words: string, signature: string): Chunk[] {
  return [
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: words },
    { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature } } },
  ]
}

export function call(toolCallId: string, toolName: string, input: unknown): Chunk[] {
  return [{ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) }]
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
}

/** A step of the model, with its end. */
export function step(...chunks: readonly Chunk[][]): Chunk[] {
  const flat = chunks.flat()
  const unified = flat.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop"
  return [
    { type: "stream-start", warnings: [] },
    ...flat,
    { type: "finish", finishReason: { unified, raw: undefined }, usage },
  ]
}

/** All chunks at once. `simulateReadableStream` waits between them. */
export function streamOf(chunks: readonly Chunk[]): ReadableStream<Chunk> {
  return new ReadableStream<Chunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

export interface RunOptions {
  readonly store: ChatStore<UIMessage>
  readonly chatId: string
  /** The messages of the request. */
  readonly messages: UIMessage[]
  readonly steps: readonly (readonly Chunk[])[]
  readonly tools?: ToolSet
  readonly abortSignal?: AbortSignal
  readonly onChunk?: (chunk: UIMessageChunk) => void
  readonly metadata?: (type: string) => unknown
}

/** One request of a route handler with `persist()`; resolves when the page has got the whole stream. */
export async function run({ store, chatId, messages, steps, tools, ...o }: RunOptions): Promise<UIMessageChunk[]> {
  let next = 0
  const model = new MockLanguageModelV4({
    doStream: async () => ({ stream: streamOf(steps[next++] ?? []) }),
  })
  const result = streamText({
    model,
    messages: await toModelMessages(messages),
    stopWhen: isStepCount(10),
    ...(tools === undefined ? {} : { tools }),
    ...(o.abortSignal === undefined ? {} : { abortSignal: o.abortSignal }),
  })
  const stream = toUIMessageStream({
    stream: result.stream,
    sendSources: true,
    ...store.persist({ chatId, messages }),
    ...(o.metadata === undefined ? {} : { messageMetadata: ({ part }) => o.metadata?.(part.type) }),
  })
  const chunks: UIMessageChunk[] = []
  for await (const chunk of stream) {
    chunks.push(chunk)
    o.onChunk?.(chunk)
  }
  return chunks
}

export function user(id: string, words: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text: words }] }
}

/** The answer as a page sends it when its user has decided, and its own tools have run. */
export function completed(message: UIMessage, approved = true): UIMessage {
  const parts = message.parts.map<UIMessage["parts"][number]>((part) => {
    if (!isToolUIPart(part)) return part
    if (part.state === "approval-requested")
      return { ...part, state: "approval-responded", approval: { ...part.approval, approved } }
    const isOfPage = part.type === "tool-page" && part.state === "input-available"
    return isOfPage ? { ...part, state: "output-available", output: "of the page" } : part
  })
  return { ...message, parts }
}
