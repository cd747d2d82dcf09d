/** The entry `@sessions/sqlite/driver`: SQLite files in Node, Bun and Deno, for packages that keep tables of their own. */

// A file.
export { connect, type ConnectOptions, connectReadOnly, fileIdentity } from "./connect.ts"
export { type Connection, type Query, transaction } from "./connection.ts"
export { requireFullText } from "./full-text.ts"
export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./library.ts"

// Locked files, and the errors of SQLite.
export { type LockedOptions, retryWhileLocked } from "./locked.ts"
export { toFolderError, toStorageError } from "./errors.ts"
