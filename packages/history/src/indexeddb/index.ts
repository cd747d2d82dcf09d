/** A history in IndexedDB, for pages and workers. */
export { createIndexedDbHistory, type IndexedDbHistoryOptions } from "./create.ts"
