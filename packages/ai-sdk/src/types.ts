/** The messages that a chat store takes, and its interface. The types are structural, so the package does not depend on `ai`. */
import type { SessionPage } from "@sessions/core"

/** The fields of a UI message of the AI SDK that this package reads. Give the store your own type: `createChatStore<UIMessage>(…)`. */
export interface ChatMessage {
  id: string
  role: "system" | "user" | "assistant"
  metadata?: unknown
  parts: { type: string }[]
}

export interface CreateChatOptions<Message extends ChatMessage = ChatMessage> {
  /** A session id, see `docs/format.md`. Default: a new ULID. `exists` if a session has it. */
  readonly id?: string
  readonly title?: string
  /** Values that {@link ListChatsOptions} can compare, such as the user's id. */
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly messages?: readonly Message[]
}

/** The chat's id is `chatId` or `id`: the chapters of the AI SDK's documentation differ. */
type WithChatId = { readonly chatId: string; readonly id?: never } | { readonly id: string; readonly chatId?: never }

export type AddMessageOptions<Message extends ChatMessage = ChatMessage> = WithChatId & {
  /** With at least one part. */
  readonly message: Message
}

export type SaveChatOptions<Message extends ChatMessage = ChatMessage> = WithChatId & {
  /** All messages of the chat. Default: they stay as they are. */
  readonly messages?: readonly Message[]
  /** The stream that a page can resume; null: none. Default: it stays as it is. */
  readonly activeStreamId?: string | null
}

export interface StoredChat<Message extends ChatMessage = ChatMessage> {
  readonly messages: Message[]
  readonly activeStreamId: string | null
}

export interface ListChatsOptions {
  /** 1-200, default 50. */
  readonly limit?: number
  /** `next` of the previous page. */
  readonly cursor?: string
  /** Only chats whose metadata has these keys with equal values. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ChatInfo {
  readonly id: string
  /** Missing if none was given; `firstPrompt` can take its place. */
  readonly title?: string
  /** The start of the first user message. */
  readonly firstPrompt?: string
  /** ISO 8601. */
  readonly createdAt: string
  /** ISO 8601, of the newest message; `createdAt` if there is none. */
  readonly lastMessageAt: string
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface ChatPage {
  /** Newest message first. */
  readonly chats: readonly ChatInfo[]
  /** Pass it as `cursor` to get the next page; undefined on the last one. */
  readonly next?: string
  /** Logs that could not be read. Their kind is not known, so they may be no chats. */
  readonly unreadable: SessionPage["unreadable"]
}

export interface PersistOptions<Message extends ChatMessage = ChatMessage> {
  readonly chatId: string
  /** The messages of the request: those of the chat with the new one. */
  readonly messages: readonly Message[]
  /** Gives the id of the response. Default: `msg-` and 24 hexadecimal digits. */
  readonly generateMessageId?: () => string
}

/** Options of `toUIMessageStream`, `createUIMessageStream` and, as far as they have them, `createAgentUIStream`. */
export interface PersistCallbacks<Message extends ChatMessage = ChatMessage> {
  originalMessages: Message[]
  generateMessageId: () => string
  /** Saves the chat after each step. Does nothing with other events than those of UI messages. */
  onStepEnd: (event: object) => Promise<void>
  onStepFinish: (event: object) => Promise<void>
  onUIMessageStepEnd: (event: { messages: Message[] }) => Promise<void>
  /** Saves the chat at the end, also of an aborted run. */
  onEnd: (event: { messages: Message[] }) => Promise<void>
  onFinish: (event: { messages: Message[] }) => Promise<void>
}

/**
 * The chats of the AI SDK in sessions of the kind `ai-sdk`. Calls on one chat run one after the other, also of other stores on the same
 * `Sessions`. Errors are those of `@sessions/core` and of its storage.
 */
export interface ChatStore<Message extends ChatMessage = ChatMessage> {
  /** Returns the chat's id. */
  createChat(o?: CreateChatOptions<Message>): Promise<string>
  /** The messages that were saved last. `not_found` if there is no such chat. An empty chat is `[]`, which `validateUIMessages` refuses. */
  loadChat(id: string): Promise<Message[]>
  /** The messages, and the active stream. `not_found` if there is no such chat. */
  readChat(id: string): Promise<StoredChat<Message>>
  /**
   * Makes these the messages of the chat, and creates the chat if there is none. Appends only the difference to what is stored: new messages
   * and steps; a changed or removed message begins a branch, or continues the one that has the messages already, and the log keeps what was
   * there. If two processes save at once, the later one wins and the other's messages are on a branch.
   *
   * Messages without parts are left out, since `validateUIMessages` refuses them. Values that JSON does not have become those that
   * `JSON.stringify` makes of them; `invalid` if it throws. After a crash, or an error, the chat has the messages of before or these; if
   * they are more than 1 MB, perhaps only the first of these. The same call completes it. `exists` if the id is that of another session.
   */
  saveChat(o: SaveChatOptions<Message>): Promise<void>
  /**
   * Adds the message behind those of the chat, creates the chat if there is none, and returns the messages up to this one: those of a request
   * to the model. Reading and writing are one step, so of two requests at once the later one has the messages of both. A message with this
   * id is replaced, and so is an answer with a call that waits, if the message has its calls under another id; what follows it stays behind
   * an answer and behind an equal question, and goes with a changed question. A question with the id `""` is a new one, unless it is equal
   * to the last message. `invalid` for a message without parts. Give the messages to `withRepair` for the model.
   */
  addMessage(o: AddMessageOptions<Message>): Promise<Message[]>
  /** Clears the active stream if it is `expected`: a newer stream stays. */
  clearActiveStream(id: string, expected: string): Promise<void>
  listChats(o?: ListChatsOptions): Promise<ChatPage>
  /** Deletes the chat with its whole log. Resolves if there is none. A later `saveChat` creates it again. */
  deleteChat(id: string): Promise<void>
  /**
   * Options of a stream that save the chat after each step and at the end. What another request has asked meanwhile, behind the question of
   * this run, stays behind its answer; an answer that is in the place of this one is replaced with what follows it, on a branch. A page that
   * goes away ends the stream, and only what it had got is saved; with `consumeSseStream: consumeStream` of `createUIMessageStreamResponse`
   * all of it is.
   */
  persist(o: PersistOptions<Message>): PersistCallbacks<Message>
}
