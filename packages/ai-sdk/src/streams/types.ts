/** The interface of resumable streams. */
import type { ChatMessage } from "../types.ts"

export interface ChatStreamsOptions<Message extends ChatMessage = ChatMessage> {
  /** `readUIMessageStream` of the package `ai`. It makes a message of the chunks that a crash has left. */
  readonly readUIMessageStream: (o: { message?: Message; stream: ReadableStream<never> }) => AsyncIterable<Message>
  /**
   * Milliseconds that a chunk waits for others, at least 1. They are written together: on S3 each write is one request. Default 100.
   */
  readonly batchMs?: number
  /**
   * Milliseconds without a chunk after which the process that generates writes a sign of life, at least 1. After three times as long
   * without any entry, others count it as lost. The same in all processes. Default 5,000.
   */
  readonly heartbeatMs?: number
  /** Called when the chunks of a stream can no longer be written; the run goes on. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
}

export interface StartOptions<Message extends ChatMessage = ChatMessage> {
  readonly chatId: string
  /** The messages of the request: those of the chat with the new one. */
  readonly messages: readonly Message[]
}

/** A run that generates an answer. */
export interface ChatRun {
  /** The `activeStreamId` of the chat until the run has ended. */
  readonly streamId: string
  /** Fires when {@link ChatStreams.stop} was called, in any process, or the chat was deleted. Give it to `streamText` as `abortSignal`. */
  readonly signal: AbortSignal
  /**
   * The option `consumeSseStream` of `createUIMessageStreamResponse` and `pipeUIMessageStreamToResponse`. Reads the stream to its end, so
   * the run goes on if the page closes. Resolves, never rejects, when the stream has ended and its chunks are stored: a platform that ends
   * the process with the response needs this promise in its `waitUntil`. `invalid` if it is called twice.
   */
  readonly consumeSseStream: (o: { readonly stream: ReadableStream<string> }) => Promise<void>
}

/** The streams of chats, which pages can resume and stop from any process of the same storage. */
export interface ChatStreams<Message extends ChatMessage = ChatMessage> {
  /**
   * Saves the messages, and makes a new stream the active one of the chat. Stops the one before, as {@link stop} does. Call it shortly
   * before the model: a run that has written nothing for three heartbeats counts as lost.
   */
  start(o: StartOptions<Message>): Promise<ChatRun>
  /**
   * The answer of the run from its start, as server-sent events, which follow it to its end; null if no run is active. It ends with the
   * chunk `abort` if the process that generates was lost, after what it has left was saved as a message. Readers do not hinder each other,
   * and one that goes has no effect on the run.
   */
  resume(chatId: string): Promise<ReadableStream<Uint8Array> | null>
  /**
   * Asks the run of the chat to stop, and resolves when it has ended and its message is saved. If its process was lost, saves what it has
   * left. Does nothing if no run is active.
   */
  stop(chatId: string): Promise<void>
}
