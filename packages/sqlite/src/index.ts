export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver.ts"
export { createSqliteStorage, type SqliteStorageOptions } from "./storage.ts"
