/** Runs and pages for the tests of resumable streams: answers whose chunks come when the test says so, and readers of what a page gets. */
import type { Sessions } from "@sessions/core"
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { type ChatStreams, type ChatStreamsOptions, createChatStreams } from "../src/index.ts"
import { user } from "./model.ts"

/** A stream of server-sent events as `consumeSseStream` gets it. */
export interface Source {
  readonly stream: ReadableStream<string>
  push(...chunks: readonly UIMessageChunk[]): void
  end(): void
  fail(error: Error): void
}

export function createSource(): Source {
  let to: ReadableStreamDefaultController<string> | undefined
  const stream = new ReadableStream<string>({ start: (controller) => void (to = controller) })
  return {
    stream,
    push: (...chunks) => chunks.forEach((chunk) => to?.enqueue(`data: ${JSON.stringify(chunk)}\n\n`)),
    end() {
      to?.enqueue("data: [DONE]\n\n")
      to?.close()
    },
    fail: (error) => to?.error(error),
  }
}

/** The chunks of an answer with these words, a tool and its result. */
export function answerChunks(messageId: string, words: readonly string[]): UIMessageChunk[] {
  return [
    { type: "start", messageId },
    { type: "start-step" },
    { type: "text-start", id: "t" },
    ...words.map((delta): UIMessageChunk => ({ type: "text-delta", id: "t", delta })),
    { type: "text-end", id: "t" },
    { type: "tool-input-available", toolCallId: "c", toolName: "look", input: { at: "\ud800", n: 1 } },
    { type: "tool-output-available", toolCallId: "c", output: ["seen\n\n"] },
    { type: "finish-step" },
    { type: "finish", finishReason: "stop" },
  ]
}

/** A page that reads a stream. */
export class Page {
  readonly chunks: unknown[] = []
  isDone = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ""

  constructor(stream: ReadableStream<Uint8Array> | null) {
    if (stream === null) throw new Error("There is no stream to resume.")
    this.#reader = stream.getReader()
  }

  /** Reads until it has this many chunks, by default until the end. */
  async read(count = Number.POSITIVE_INFINITY): Promise<readonly unknown[]> {
    while (this.chunks.length < count) {
      const { done, value } = await this.#reader.read()
      if (done) break
      this.#take(this.#decoder.decode(value, { stream: true }))
    }
    return this.chunks
  }

  close(): Promise<void> {
    return this.#reader.cancel()
  }

  #take(piece: string): void {
    const events = (this.#rest + piece).split("\n\n")
    this.#rest = events.pop() ?? ""
    for (const event of events) {
      if (event === "data: [DONE]") this.isDone = true
      else if (event.startsWith("data: ")) this.chunks.push(JSON.parse(event.slice(6)))
    }
  }
}

export function createStreams(
  sessions: Sessions,
  o: Partial<ChatStreamsOptions<UIMessage>> = {},
): ChatStreams<UIMessage> {
  return createChatStreams<UIMessage>(sessions, { readUIMessageStream, batchMs: 1, ...o })
}

export const messages = [user("u1", "Look")]
export const chunks = answerChunks("a1", ["I", " look", "."])
