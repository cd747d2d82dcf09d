/** The chat store: each chat is a session, each call opens it, reads or appends, and closes it. */
import { hasCode, type Session, type SessionInfo, type Sessions } from "@sessions/core"
import { activeStream, ENDED_KEY, endStream, setStream, STREAM_KEY } from "./active-stream.ts"
import { difference } from "./difference.ts"
import { draftsOf } from "./entries.ts"
import { asJson } from "./json.ts"
import { persistCallbacks } from "./persist.ts"
import { inTurn } from "./queue.ts"
import { readMessages } from "./read.ts"
import { appendDifference, KIND, readToEnd, withChat, withNewChat } from "./session.ts"
import type { ChatInfo, ChatMessage, ChatStore, SaveChatOptions } from "./types.ts"

/**
 * A chat store for the AI SDK over the sessions of a storage. Several stores, processes and machines can use one storage.
 *
 * ```ts
 * export const { createChat, loadChat, saveChat, persist } = createChatStore<UIMessage>(sessions)
 * ```
 */
export function createChatStore<Message extends ChatMessage = ChatMessage>(sessions: Sessions): ChatStore<Message> {
  const saveChat = (o: SaveChatOptions<Message>): Promise<void> => {
    const { messages: given, activeStreamId } = o
    const id = o.chatId ?? o.id
    // Now, because the caller may change its messages while the call waits.
    const messages = given === undefined ? undefined : storable(given)
    return inTurn(sessions, id, () =>
      untilNoConflict(() => withNewChat(sessions, id, (session) => save(session, messages, activeStreamId))),
    )
  }
  const read = <T>(id: string, work: (session: Session) => Promise<T>): Promise<T> =>
    inTurn(sessions, id, () => withChat(sessions, id, work))
  return {
    saveChat: async (o) => saveChat(o),
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
    loadChat: (id) => read(id, (session) => load<Message>(session)),
    readChat: (id) =>
      read(id, async (session) => ({
        messages: await load<Message>(session),
        activeStreamId: await activeStream(session),
      })),
    clearActiveStream: (id, expected) => read(id, (session) => endStream(session, expected)),
    async listChats(o = {}) {
      const { sessions: found, unreadable, next } = await sessions.list({ ...o, kind: KIND })
      return { chats: found.map(chatInfo), unreadable, ...(next === undefined ? {} : { next }) }
    },
    deleteChat: (id) => inTurn(sessions, id, () => deleteChat(sessions, id)),
    persist: (o) => persistCallbacks(o, saveChat),
  }
}

/** A copy as JSON has it, without the messages that `validateUIMessages` refuses. */
function storable(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return asJson(messages, "The messages").filter(({ parts }) => parts.length > 0)
}

async function save(
  session: Session,
  messages: readonly ChatMessage[] | undefined,
  stream: string | null | undefined,
): Promise<void> {
  const streamEntries = stream === undefined ? [] : await setStream(session, stream)
  const end = messages === undefined ? undefined : await readToEnd(session)
  const { entries = [], ...place } = end === undefined ? {} : difference(end.path, messages ?? [])
  await appendDifference(session, end ?? { path: [] }, { ...place, entries: [...entries, ...streamEntries] })
}

async function load<Message extends ChatMessage>(session: Session): Promise<Message[]> {
  const { path } = await readToEnd(session)
  return readMessages(path).map(({ message }) => message as Message)
}

/** More than the writers that could meet in one chat; each conflict means that another writer has succeeded. */
const MOST_CONFLICTS = 100

/** Reads and compares again when another writer was faster. */
async function untilNoConflict(save: () => Promise<void>): Promise<void> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await save()
    } catch (error) {
      if (conflicts === MOST_CONFLICTS || !hasCode(error, "conflict")) throw error
    }
  }
}

async function deleteChat(sessions: Sessions, id: string): Promise<void> {
  try {
    await withChat(sessions, id, async () => undefined)
    await sessions.delete(id)
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error
  }
}

function chatInfo({ id, title, firstPrompt, createdAt, lastMessageAt, metadata: all }: SessionInfo): ChatInfo {
  const { [STREAM_KEY]: _stream, [ENDED_KEY]: _ended, ...metadata } = all
  return {
    id,
    ...(title === undefined ? {} : { title }),
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
    createdAt,
    lastMessageAt,
    metadata,
  }
}
