/** The entry `@sessions/idb/database`: databases in IndexedDB, for packages that keep object stores of their own. */
export type { DBSchema } from "idb"

// A database.
export { type Connection, createConnection, type DatabaseOptions } from "./connection.ts"
export {
  type DatabaseContext,
  free,
  type Reading,
  readTransaction,
  unawaited,
  writeRepeatably,
  type Writing,
} from "./transaction.ts"

// Its errors.
export { type DatabaseName, isQuota, toStorageError } from "./errors.ts"
