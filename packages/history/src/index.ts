/**
 * The prompts that people typed, over all sessions, for arrow-up and search. This entry runs everywhere; `/sqlite` and `/indexeddb` keep a
 * history in a file and in a page.
 */
export { createMemoryHistory } from "./memory.ts"
export { recordPrompts } from "./record.ts"
export type {
  AddOptions,
  ClearOptions,
  HistoryOptions,
  PromptHistory,
  RecentOptions,
  SearchOptions,
  StoredPrompt,
} from "./types.ts"
