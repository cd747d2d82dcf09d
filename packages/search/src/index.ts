/** Full-text search over all conversations of a storage. Start with {@link createSearch}. */
export { createSearch } from "./search.ts"
export { createMemoryIndex } from "./memory-index.ts"
export type { FoundMessage, ToMessage } from "./content.ts"
export type {
  CatchUpOptions,
  CaughtUp,
  FindOptions,
  Search,
  SearchHit,
  SearchOptions,
  SearchPage,
  SnippetPart,
  UnreadableSession,
} from "./types.ts"
export type {
  Heads,
  IndexAnswer,
  IndexChange,
  IndexedHead,
  IndexHit,
  IndexQuery,
  IndexRow,
  SearchIndex,
} from "./search-index.ts"
