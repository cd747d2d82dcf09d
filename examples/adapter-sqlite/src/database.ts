/** The SQLite connection: its settings, tables, transactions and errors. */
import { type Call, connectOnce, StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { type Driver, resultCode } from "./driver.ts"

const SETUP = `
  PRAGMA busy_timeout = 2000;
  PRAGMA journal_mode = WAL;
  -- With NORMAL, SQLite acknowledges a WAL commit before it is on disk. fullfsync flushes the cache of the disk on macOS.
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  -- Overwrites what is deleted, also in pages that are not used again.
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, head TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS lines (log TEXT, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (log, seq));
  CREATE TABLE IF NOT EXISTS docs (key TEXT PRIMARY KEY, text BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL, putAt INTEGER NOT NULL)`
/** Busy, corrupt, full, not a database. These errors wrote nothing; after any other error of a commit the outcome is unknown. */
const CODES: { [result: number]: StorageErrorCode } = { 5: "unavailable", 11: "corrupt", 13: "quota", 26: "corrupt" }

/** One connection to the file, opened on first use. Each write is one transaction. */
export interface Database {
  read<T>(work: (driver: Driver) => T): Promise<T>
  write<T>(work: (driver: Driver) => T): Promise<T>
  readonly close: () => Promise<void>
}

export function createDatabase(open: () => Promise<Driver>): Database {
  const { get, close } = connectOnce({ open, setUp: (driver) => driver.exec(SETUP), close: (driver) => driver.close() })
  return { close, read: async (work) => work(await get()), write: async (work) => inTransaction(await get(), work) }
}

export function toError(cause: unknown, { doing }: Call): StorageError {
  const result = resultCode(cause)
  const what = result === 0 ? "This is a defect of the adapter" : "SQLite reported an error"
  return new StorageError(CODES[result] ?? "unavailable", `Could not ${doing}. ${what}: ${String(cause)}.`, { cause })
}

function inTransaction<T>(driver: Driver, work: (driver: Driver) => T): T {
  let committing = false
  driver.exec("BEGIN IMMEDIATE")
  try {
    const result = work(driver)
    committing = true
    driver.exec("COMMIT")
    return result
  } catch (cause) {
    try {
      driver.exec("ROLLBACK")
    } catch {
      // After some errors SQLite has already rolled back.
    }
    if (!committing || resultCode(cause) in CODES) throw cause
    // The pages in the WAL may reappear when it is next recovered, so reading now would not resolve the outcome.
    const message = "SQLite failed to commit; read again later to see whether the change was written."
    throw new StorageError("indeterminate", message, { cause })
  }
}
