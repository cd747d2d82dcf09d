/** The AI SDK's own client against the routes of the documentation: a page that reloads resumes its stream, and stops it. */
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import {
  AbstractChat,
  type ChatState,
  convertToModelMessages,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  isStepCount,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  streamText,
  tool,
  toUIMessageStream,
  UI_MESSAGE_STREAM_HEADERS,
  type UIMessage,
} from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { expect, test } from "vitest"
import { z } from "zod"
import { type ChatStore, type ChatStreams, createChatStore, createChatStreams } from "../src/index.ts"
import { call, type Chunk, step, text } from "./model.ts"

/** One process of the server. Its model gives the chunks of each step as the test sends them. */
class Server {
  readonly store: ChatStore<UIMessage>
  readonly streams: ChatStreams<UIMessage>
  /** The steps of the model, in order. */
  readonly steps: Step[] = []
  #asked = 0

  constructor(sessions: Sessions) {
    this.store = createChatStore<UIMessage>(sessions)
    this.streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream, batchMs: 1 })
  }

  fetch = async (url: unknown, { method, body }: RequestInit = {}): Promise<Response> => {
    const [, id = "", action] = /^\/api\/chat\/?([^/]*)\/?(.*)$/.exec(String(url)) ?? []
    if (method === "POST" && action === "") return this.#generate(JSON.parse(String(body)))
    if (method === "POST") return new Response(null, { status: (await this.streams.stop(id), 200) })
    const stream = await this.streams.resume(id)
    if (stream === null) return new Response(null, { status: 204 })
    return new Response(stream, { headers: UI_MESSAGE_STREAM_HEADERS })
  }

  async #generate({ id, messages }: { readonly id: string; readonly messages: UIMessage[] }): Promise<Response> {
    const { signal, consumeSseStream } = await this.streams.start({ chatId: id, messages })
    const model = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => {
        const next = this.steps[this.#asked++] as Step
        abortSignal?.addEventListener("abort", () => next.abort())
        return { stream: next.stream }
      },
    })
    const result = streamText({
      model,
      messages: await convertToModelMessages(messages),
      tools: { weather },
      abortSignal: signal,
      stopWhen: isStepCount(5),
    })
    return createUIMessageStreamResponse({
      stream: toUIMessageStream({ stream: result.stream, ...this.store.persist({ chatId: id, messages }) }),
      consumeSseStream,
    })
  }
}

class Step {
  #to: ReadableStreamDefaultController<Chunk> | undefined
  readonly stream = new ReadableStream<Chunk>({ start: (controller) => void (this.#to = controller) })
  push(chunks: readonly Chunk[]): void {
    for (const chunk of chunks) this.#to?.enqueue(chunk)
  }
  end(): void {
    this.#to?.close()
  }
  abort(): void {
    this.#to?.error(new DOMException("The run was stopped.", "AbortError"))
  }
}

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  needsApproval: true,
  execute: async ({ city }) => `21 degrees in ${city}`,
})

/** A page, as `useChat` is one. */
class Page extends AbstractChat<UIMessage> {
  /** The state after each change, to wait for one. */
  #changed: (() => void) | undefined

  constructor({ fetch }: Server, messages: UIMessage[]) {
    let onChange = (): void => undefined
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages,
      pushMessage: (message) => setMessages([...state.messages, message]),
      popMessage: () => setMessages(state.messages.slice(0, -1)),
      replaceMessage: (index, message) => setMessages(state.messages.with(index, structuredClone(message))),
      snapshot: (value) => structuredClone(value),
    }
    const setMessages = (next: UIMessage[]): void => {
      state.messages = next
      onChange()
    }
    super({
      id: "c",
      state,
      transport: new DefaultChatTransport({ api: "/api/chat", fetch }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
    onChange = () => this.#changed?.()
  }

  /** Resolves when the text of the page ends like this. */
  async until(end: string): Promise<void> {
    while (!this.text.endsWith(end)) await new Promise<void>((resolve) => (this.#changed = resolve))
  }

  get text(): string {
    const parts = this.messages.flatMap((message) => message.parts)
    return parts
      .map((part) => ("text" in part ? part.text : "output" in part ? `[${String(part.output)}]` : ""))
      .join("")
  }
}

function createWorld(steps: number): {
  readonly here: Server
  readonly there: Server
  readonly steps: readonly Step[]
} {
  const storage = createMemoryStorage()
  const [here, there] = [new Server(createSessions({ storage })), new Server(createSessions({ storage }))]
  here.steps.push(...Array.from({ length: steps }, () => new Step()))
  return { here, there, steps: here.steps }
}

test("a page that reloads in the middle of an answer shows it from its start and follows it, through another process", async () => {
  const { here, there, steps } = createWorld(1)
  const [model] = steps as [Step]
  const first = new Page(here, [])
  await first.resumeStream()
  expect(first.status).toBe("ready")
  const sent = first.sendMessage({ text: "Hi. " })
  const chunks = step(text("One two three"))
  model.push(chunks.slice(0, 8))
  await first.until("One tw")
  await first.stop()
  await sent
  const second = new Page(there, await there.store.loadChat("c"))
  const resumed = second.resumeStream()
  await second.until("One tw")
  model.push(chunks.slice(8))
  model.end()
  await resumed
  expect([second.text, second.status]).toEqual(["Hi. One two three", "ready"])
  expect(second.messages).toEqual(await here.store.loadChat("c"))
  const third = new Page(there, await there.store.loadChat("c"))
  await third.resumeStream()
  expect(third.messages).toEqual(second.messages)
})

test("a page that stops a run through another process keeps what it has got, and so does the chat", async () => {
  const { here, there, steps } = createWorld(1)
  const [model] = steps as [Step]
  const page = new Page(here, [])
  const sent = page.sendMessage({ text: "Hi. " })
  model.push(step(text("One two three")).slice(0, 8))
  await page.until("One tw")
  await there.fetch("/api/chat/c/stop", { method: "POST" })
  await sent
  expect((await there.store.readChat("c")).activeStreamId).toBeNull()
  expect(await there.store.loadChat("c")).toEqual(page.messages)
  expect(page.text).toBe("Hi. One tw")
})

test("a page that reloads while an answer goes on after an approval shows all of the answer", async () => {
  const { here, there, steps } = createWorld(2)
  const [asking, answering] = steps as [Step, Step]
  const first = new Page(here, [])
  asking.push(step(text("I look. "), call("c1", "weather", { city: "Rome" })))
  asking.end()
  await first.sendMessage({ text: "Hi. " })
  const part = first.messages.at(-1)?.parts.at(-1)
  const id = part !== undefined && "approval" in part ? part.approval?.id : undefined
  const chunks = step(text("It is warm."))
  answering.push(chunks.slice(0, 4))
  const approved = first.addToolApprovalResponse({ id: String(id), approved: true })
  await first.until("It")
  await first.stop()
  await approved
  const second = new Page(there, await there.store.loadChat("c"))
  const resumed = second.resumeStream()
  await second.until("It")
  expect(second.text).toBe("Hi. I look. [21 degrees in Rome]It")
  answering.push(chunks.slice(4))
  answering.end()
  await resumed
  expect(second.text).toBe("Hi. I look. [21 degrees in Rome]It is warm.")
  const [, saved] = await here.store.loadChat("c")
  expect(second.messages.at(-1)).toMatchObject({ ...saved })
})
