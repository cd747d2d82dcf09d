/** The session store of the Claude Agent SDK on a repository of `@sessions/core`. Start with {@link createClaudeStore}. */
export { messageOf } from "./message.ts"
export { createClaudeStore } from "./store.ts"
export { transcriptText } from "./text.ts"
export type {
  ClaudeStore,
  ClaudeStoreOptions,
  FoldSessionSummary,
  SessionKey,
  SessionStoreEntry,
  SessionSummaryEntry,
} from "./types.ts"
