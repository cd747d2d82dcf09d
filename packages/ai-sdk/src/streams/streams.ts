/** Resumable streams: starts, resumes and stops the runs of chats. Each run has a log of its own, see `log.ts`. */
import { hasCode, type Session, SessionError, type Sessions } from "@sessions/core"
import { checkOptions } from "@sessions/core/storage"
import { activeStream, endStream, setStream, setStreamLog, streamLog } from "../active-stream.ts"
import { changeChat, readChat, storable } from "../chat.ts"
import { withRun } from "../concurrent.ts"
import { checkSessions, deleteIfThere } from "../session.ts"
import type { ChatMessage } from "../types.ts"
import { ABORT_CHUNK, type Chunk, DONE_EVENT, eventOf, KEEP_ALIVE_EVENT } from "./chunks.ts"
import { startContinued } from "./continued.ts"
import { followEntries, LOST } from "./follow.ts"
import { type EndReason, endEntry, readStream, runEntry, STOP_ENTRY, STREAM_KIND, StreamState } from "./log.ts"
import { readAll, recordStream } from "./record.ts"
import { saveParts } from "./recover.ts"
import type { ChatRun, ChatStreams, ChatStreamsOptions, StartOptions } from "./types.ts"

/**
 * Makes the streams of the chats of a storage resumable, without any other service. Several processes can use one storage.
 *
 * ```ts
 * export const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream })
 * ```
 */
export function createChatStreams<Message extends ChatMessage = ChatMessage>(
  sessions: Sessions,
  options: ChatStreamsOptions<Message>,
): ChatStreams<Message> {
  checkSessions("createChatStreams", sessions)
  checkOptions("createChatStreams", options, { readUIMessageStream: 1, batchMs: 1, heartbeatMs: 1, onError: 1 })
  const { batchMs = 100, heartbeatMs = 5_000, onError = console.error } = options
  checkMs("batchMs", batchMs)
  checkMs("heartbeatMs", heartbeatMs)

  /** The log of the active run; undefined if there is none. The caller closes it. */
  async function openActive(chatId: string): Promise<Session | undefined> {
    const id = await activeLog(sessions, chatId)
    if (id === undefined) return undefined
    try {
      const log = await sessions.open(id)
      if (log.header.kind === STREAM_KIND) return log
      await log.close()
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error
    }
    await clear(chatId, id)
    return undefined
  }

  /** Ends the run in the log and in the chat, in this order: who sees the end finds the message. */
  async function end(log: Session, chatId: string, reason: EndReason): Promise<void> {
    await log.append(endEntry(reason))
    await clear(chatId, log.id)
  }

  async function clear(chatId: string, id: string): Promise<void> {
    try {
      await readChat(sessions, chatId, (chat) => endStream(chat, id))
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error
    }
  }

  async function giveUp(log: Session, chatId: string): Promise<void> {
    await saveParts(sessions, await readStream(log), options.readUIMessageStream)
    await end(log, chatId, "lost")
  }

  async function start({ chatId, messages: given }: StartOptions<Message>): Promise<ChatRun> {
    const messages = storable(given)
    await stop(chatId)
    const last = messages.at(-1)
    const run = {
      chatId,
      ...(last === undefined ? {} : { after: last.id }),
      ...(last?.role === "assistant" ? { continues: last } : {}),
    }
    const log = await sessions.create({ kind: STREAM_KIND, entries: [runEntry(run)] })
    await log.close()
    let before: string | undefined
    await changeChat(sessions, chatId, {
      messages: (stored) => withRun(stored, messages),
      entries: async (chat) => {
        before = await streamLog(chat)
        return [...(await setStream(chat, log.id)), setStreamLog(log.id)]
      },
    })
    // Kept until now for its readers.
    if (before !== undefined) await deleteIfThere(sessions, before)
    return newRun(log.id, (stream, stopRun) => record(log.id, chatId, stream, stopRun))
  }

  async function record(
    id: string,
    chatId: string,
    stream: ReadableStream<string>,
    stopRun: () => void,
  ): Promise<void> {
    let log: Session
    try {
      log = await sessions.open(id)
    } catch (error) {
      // The run has to go on, and needs someone who reads it.
      await readAll(stream, () => undefined)
      throw error
    }
    try {
      const { isWritten, isComplete } = await recordStream(stream, {
        session: log,
        batchMs,
        heartbeatMs,
        stop: stopRun,
        onError,
      })
      // A stream that has failed has not saved its message.
      if (isWritten && isComplete) await end(log, chatId, "finished")
      else if (isWritten) await giveUp(log, chatId)
    } finally {
      await log.close()
    }
  }

  function newRun(
    streamId: string,
    consume: (stream: ReadableStream<string>, stop: () => void) => Promise<void>,
  ): ChatRun {
    const controller = new AbortController()
    let isConsumed = false
    return {
      streamId,
      signal: controller.signal,
      async consumeSseStream({ stream }) {
        if (isConsumed)
          throw new SessionError("invalid", "A run consumes one stream. Start another run for another stream.")
        isConsumed = true
        try {
          await consume(stream, () => controller.abort())
        } catch (error) {
          onError(error)
        }
      },
    }
  }

  async function resume(chatId: string): Promise<ReadableStream<Uint8Array> | null> {
    const log = await openActive(chatId)
    if (log === undefined) return null
    const { state } = await readStream(log)
    if (state.end === undefined)
      return bytesOf(
        (signal) => events(log, chatId, signal),
        () => log.close(),
      )
    await clear(chatId, log.id)
    await log.close()
    return null
  }

  async function* events(log: Session, chatId: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const state = new StreamState()
    for await (const entry of followEntries(log, heartbeatMs, signal)) {
      if (entry === LOST) {
        await giveUp(log, chatId)
        continue
      }
      const chunks = wholeAnswer(state.take(entry), state)
      if (state.end === undefined) {
        yield chunks.length === 0 ? KEEP_ALIVE_EVENT : chunks.map(eventOf).join("")
        continue
      }
      yield state.end === "lost" ? `${eventOf(ABORT_CHUNK)}${DONE_EVENT}` : DONE_EVENT
      return
    }
  }

  async function stop(chatId: string): Promise<void> {
    const log = await openActive(chatId)
    if (log === undefined) return
    try {
      const { state: seen } = await readStream(log)
      if (seen.end === undefined && !seen.isStopped) await log.append(STOP_ENTRY)
      const state = new StreamState()
      for await (const entry of followEntries(log, heartbeatMs)) {
        if (entry === LOST) await giveUp(log, chatId)
        else state.take(entry)
        if (state.end !== undefined) break
      }
      await clear(chatId, log.id)
    } finally {
      await log.close()
    }
  }

  return { start, resume, stop }
}

/** With the parts from before the run, if it continues a message. */
function wholeAnswer(chunks: readonly Chunk[], { run, count }: StreamState): readonly Chunk[] {
  const [start, ...rest] = chunks
  if (run?.continues === undefined || start?.type !== "start" || count > chunks.length) return chunks
  return [...startContinued(start, run.continues), ...rest]
}

/** Undefined also if the application has made a stream of its own the active one. */
async function activeLog(sessions: Sessions, chatId: string): Promise<string | undefined> {
  try {
    const [active, log] = await readChat(sessions, chatId, async (chat) => [
      await activeStream(chat),
      await streamLog(chat),
    ])
    return active === log ? log : undefined
  } catch (error) {
    if (hasCode(error, "not_found")) return undefined
    throw error
  }
}

function checkMs(name: string, ms: number): void {
  if (Number.isSafeInteger(ms) && ms > 0) return
  throw new SessionError("invalid", `${name} is a number of milliseconds, at least 1.`)
}

/** The pieces as a stream of bytes. `close` is called once, at the end, after an error, or when the reader goes. */
function bytesOf(
  pieces: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>,
  close: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const encoder = new TextEncoder()
  const iterator = pieces(gone.signal)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        if (done !== true) return controller.enqueue(encoder.encode(value))
        await close()
        if (!gone.signal.aborted) controller.close()
      } catch (error) {
        await close().catch(() => undefined)
        throw error
      }
    },
    async cancel() {
      gone.abort()
      await iterator.return()
      await close()
    },
  })
}
