/** `@sessions/http/client`: clients of the handlers, for pages and programs. Imports nothing of the server. */
export type { ClientOptions } from "./client-options.ts"
export {
  connectHttpStorage,
  type ConnectHttpStorageOptions,
  createHttpStorage,
  type HttpStorageOptions,
} from "./storage/client.ts"

// The session API.
export {
  type CallSignal,
  createSessionClient,
  type EventsOptions,
  SessionApiError,
  type SessionClient,
  type SessionClientOptions,
} from "./sessions/client.ts"
export type {
  AnsweredError,
  DeleteAnswer,
  EndedTurn,
  EventPage,
  LoadedSession,
  NewPrompt,
  NewSession,
  PromptAnswer,
  SessionEvent,
  SessionEventData,
  SessionEventName,
  SessionFilter,
  SessionList,
  SessionState,
  StopAnswer,
  WaitingPrompt,
} from "./sessions/types.ts"
