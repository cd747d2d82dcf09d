/** The index in a folder with a SQLite file, for Node, Bun and Deno. */
export { createSqliteIndex, type SqliteIndexOptions } from "./sqlite-index.ts"
