/** The chats of the AI SDK in append-only session logs. Start with {@link createChatStore}. */
export { type ConvertToModelMessages, withRepair } from "./model-messages.ts"
export { type MessageRepair, repairMessages, type RepairOptions } from "./repair.ts"
export { type ChatResult, chatResult } from "./results.ts"
export { openChatLog } from "./session.ts"
export { createChatStore } from "./store.ts"
export { createChatStreams } from "./streams/streams.ts"
export type { ChatRun, ChatStreams, ChatStreamsOptions, StartOptions } from "./streams/types.ts"
export type {
  AddMessageOptions,
  ChatInfo,
  ChatMessage,
  ChatPage,
  ChatStore,
  CreateChatOptions,
  ListChatsOptions,
  PersistCallbacks,
  PersistOptions,
  SaveChatOptions,
  StoredChat,
} from "./types.ts"
