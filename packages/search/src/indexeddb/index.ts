/** The index in IndexedDB, for pages and workers. Loads no code of SQLite. */
export { createIndexedDbIndex, type IndexedDbIndexOptions } from "./indexeddb-index.ts"
