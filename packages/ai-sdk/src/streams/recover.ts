/** Saves what a run has left that could not save it itself. */
import type { Sessions } from "@sessions/core"
import { changeChat, storable } from "../chat.ts"
import { isEqual } from "../json.ts"
import type { ChatMessage } from "../types.ts"
import type { Chunk } from "./chunks.ts"
import type { StreamState } from "./log.ts"
import type { ChatStreamsOptions } from "./types.ts"

/**
 * Makes the chunks the last message of the chat: instead of the steps of it that are saved, or behind the message that it answers. Does
 * nothing if the conversation has gone on since. Repeated, it changes nothing.
 */
export async function saveParts<Message extends ChatMessage>(
  sessions: Sessions,
  { state, chunks }: { readonly state: StreamState; readonly chunks: readonly Chunk[] },
  readUIMessageStream: ChatStreamsOptions<Message>["readUIMessageStream"],
): Promise<void> {
  const { run } = state
  if (run === undefined) return
  const message = await messageOf(chunks, run.continues as Message | undefined, readUIMessageStream)
  const [answer] = message === undefined ? [] : storable([message])
  if (answer === undefined) return
  await changeChat(sessions, run.chatId, {
    messages(stored) {
      const last = stored.at(-1)
      if (last?.id !== answer.id) return last?.id === run.after ? [...stored, answer] : stored
      // A step is saved before its last chunks are written, so what is stored may be more than the chunks.
      const isMore = answer.parts.length > last.parts.length || isEqual(last, run.continues)
      return isMore ? [...stored.slice(0, -1), answer] : stored
    },
  })
}

async function messageOf<Message extends ChatMessage>(
  chunks: readonly Chunk[],
  continues: Message | undefined,
  readUIMessageStream: ChatStreamsOptions<Message>["readUIMessageStream"],
): Promise<Message | undefined> {
  const stream = new ReadableStream<Chunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let last: Message | undefined
  const read = { stream: stream as ReadableStream<never>, ...(continues === undefined ? {} : { message: continues }) }
  for await (const message of readUIMessageStream(read)) last = message
  return last
}
