/** The chat store: each chat is a session, each call opens it, reads or appends, and closes it. */
import { hasCode, SessionError, type SessionInfo, type Sessions } from "@sessions/core"
import { activeStream, endStream, setStream, streamLog, withoutStreams } from "./active-stream.ts"
import { changeChat, loadMessages, readChat, storable } from "./chat.ts"
import { withMessage, withRun } from "./concurrent.ts"
import { draftsOf } from "./entries.ts"
import { persistCallbacks } from "./persist.ts"
import { inTurn } from "./queue.ts"
import { checkSessions, deleteIfThere, KIND, withChat } from "./session.ts"
import type { ChatInfo, ChatMessage, ChatStore, SaveChatOptions } from "./types.ts"

/**
 * A chat store for the AI SDK over the sessions of a storage. Several stores, processes and machines can use one storage.
 *
 * ```ts
 * export const { createChat, loadChat, saveChat, persist } = createChatStore<UIMessage>(sessions)
 * ```
 */
export function createChatStore<Message extends ChatMessage = ChatMessage>(sessions: Sessions): ChatStore<Message> {
  checkSessions("createChatStore", sessions)
  const saveChat = async (o: SaveChatOptions<Message>): Promise<void> => {
    const { messages: given, activeStreamId } = o
    // Now, because the caller may change its messages while the call waits.
    const messages = given === undefined ? undefined : storable(given)
    await changeChat(sessions, o.chatId ?? o.id, {
      ...(messages === undefined ? {} : { messages: () => messages }),
      ...(activeStreamId === undefined ? {} : { entries: (session) => setStream(session, activeStreamId) }),
    })
  }
  return {
    saveChat,
    async addMessage(o) {
      const [message] = storable([o.message])
      if (message === undefined) throw new SessionError("invalid", "The message has no parts. Nothing was written.")
      let messages: readonly ChatMessage[] = []
      await changeChat(sessions, o.chatId ?? o.id, {
        messages(stored) {
          const { saved, request } = withMessage(stored, message)
          messages = request
          return saved
        },
      })
      return [...messages] as Message[]
    },
    async createChat({ id, title, metadata, messages = [] } = {}) {
      const session = await sessions.create({
        kind: KIND,
        ...(id === undefined ? {} : { id }),
        ...(title === undefined ? {} : { title }),
        ...(metadata === undefined ? {} : { metadata }),
        entries: storable(messages).flatMap(draftsOf),
      })
      await session.close()
      return session.id
    },
    loadChat: (id) => readChat(sessions, id, async (session) => [...(await loadMessages(session))] as Message[]),
    readChat: (id) =>
      readChat(sessions, id, async (session) => ({
        messages: [...(await loadMessages(session))] as Message[],
        activeStreamId: await activeStream(session),
      })),
    clearActiveStream: (id, expected) => readChat(sessions, id, (session) => endStream(session, expected)),
    async listChats(o = {}) {
      const { sessions: found, unreadable, next } = await sessions.list({ ...o, kind: KIND })
      return { chats: found.map(chatInfo), unreadable, ...(next === undefined ? {} : { next }) }
    },
    deleteChat: (id) => inTurn(sessions, id, () => deleteChat(sessions, id)),
    persist: (o) =>
      persistCallbacks(o, ({ chatId, messages }) => {
        const run = storable(messages)
        return changeChat(sessions, chatId, { messages: (stored) => withRun(stored, run) })
      }),
  }
}

/** The log of its stream first: a crash between the two leaves a chat that can be deleted again. */
async function deleteChat(sessions: Sessions, id: string): Promise<void> {
  try {
    const log = await withChat(sessions, id, streamLog)
    if (log !== undefined) await deleteIfThere(sessions, log)
  } catch (error) {
    if (hasCode(error, "not_found")) return
    throw error
  }
  await deleteIfThere(sessions, id)
}

function chatInfo({ id, title, firstPrompt, createdAt, lastMessageAt, metadata }: SessionInfo): ChatInfo {
  return {
    id,
    ...(title === undefined ? {} : { title }),
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
    createdAt,
    lastMessageAt,
    metadata: withoutStreams(metadata),
  }
}
