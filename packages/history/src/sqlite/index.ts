/** A history in a SQLite file, for Node, Bun and Deno. */
export { createSqliteHistory, type SqliteHistoryOptions } from "./create.ts"
