export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver/library.ts"
export { createSqliteStorage, type SqliteStorageOptions } from "./storage.ts"
