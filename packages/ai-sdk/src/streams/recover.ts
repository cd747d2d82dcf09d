/** Saves what a run has left that could not save it itself. */
import type { Sessions } from "@sessions/core"
import { changeChat, storable } from "../chat.ts"
import { isNamedAlike } from "../identity.ts"
import { isEqual } from "../json.ts"
import type { Part } from "../parts.ts"
import type { ChatMessage } from "../types.ts"
import type { Chunk } from "./chunks.ts"
import type { RunData, StreamState } from "./log.ts"
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
    messages: (stored) => withAnswer(stored, answer, run),
  })
}

function withAnswer(
  stored: readonly ChatMessage[],
  answer: ChatMessage,
  { after, continues }: RunData,
): readonly ChatMessage[] {
  const last = stored.at(-1)
  if (last?.role !== "assistant") return continues === undefined && last?.id === after ? [...stored, answer] : stored
  // The id `""` does not tell an answer from a later one; what it answers, or begins with, does.
  const isOwn =
    continues === undefined
      ? isNamedAlike(last, answer) && stored.at(-2)?.id === after
      : isNamedAlike(last, continues) && beginsWith(last, continues)
  // A step is saved before its last chunks are written, so what is stored may be more than the chunks.
  const isMore = answer.parts.length > last.parts.length || isEqual(last, continues)
  return isOwn && isMore ? [...stored.slice(0, -1), answer] : stored
}

/** Whether the message has the parts of the other one at its beginning. A call may have got its result, and a text its end. */
function beginsWith(message: ChatMessage, begin: ChatMessage): boolean {
  const parts = message.parts as readonly Part[]
  return (begin.parts as readonly Part[]).every(({ type, text, toolCallId }, index) => {
    const part = parts[index]
    if (part?.type !== type || part["toolCallId"] !== toolCallId) return false
    return typeof text !== "string" || String(part["text"]).startsWith(text)
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
  // A copy, because the AI SDK adds the parts to the message that it gets.
  const message = continues === undefined ? {} : { message: structuredClone(continues) }
  const read = { stream: stream as ReadableStream<never>, ...message }
  for await (const state of readUIMessageStream(read)) last = state
  return last
}
