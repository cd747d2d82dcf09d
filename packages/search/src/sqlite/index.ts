/** The index in a folder with a SQLite file, for Node 22.13 or newer, Bun and Deno. */
export { createSqliteIndex, type SqliteIndexOptions } from "./sqlite-index.ts"
