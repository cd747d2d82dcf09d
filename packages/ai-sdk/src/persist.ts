/** The options of a stream that save a chat while the answer is generated. */
import { SessionError } from "@sessions/core"
import type { ChatMessage, PersistCallbacks, PersistOptions } from "./types.ts"

export function persistCallbacks<Message extends ChatMessage>(
  { chatId, messages, generateMessageId = newMessageId }: PersistOptions<Message>,
  saveRun: (o: { readonly chatId: string; readonly messages: readonly Message[] }) => Promise<void>,
): PersistCallbacks<Message> {
  // Now: the end of the run would be too late for its answer.
  if (typeof chatId !== "string") throw new SessionError("invalid", "persist needs the `chatId` of the chat, a text.")
  const save = async ({ messages }: { readonly messages: Message[] }): Promise<void> => saveRun({ chatId, messages })
  // `createAgentUIStream` calls its `onStepEnd` with the step of the model; UI messages go to its `onUIMessageStepEnd`.
  const onStepEnd = async (event: object): Promise<void> => {
    if ("responseMessage" in event && "messages" in event) await save(event as { readonly messages: Message[] })
  }
  return {
    originalMessages: [...messages],
    generateMessageId,
    onStepEnd,
    onStepFinish: onStepEnd,
    onUIMessageStepEnd: save,
    onEnd: save,
    onFinish: save,
  }
}

function newMessageId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `msg-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}
