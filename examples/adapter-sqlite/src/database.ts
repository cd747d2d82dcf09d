import type { Call, StorageErrorCode } from "@sessions/core/storage"
import { connectOnce, StorageError } from "@sessions/core/storage"
import type { Driver } from "./driver.ts"
import { resultCode } from "./driver.ts"

const SETUP = [
  "PRAGMA busy_timeout = 2000",
  "PRAGMA journal_mode = WAL",
  // With NORMAL a WAL acknowledges before the disk has it; fullfsync empties the disk's own cache on macOS.
  "PRAGMA synchronous = FULL",
  "PRAGMA fullfsync = ON",
  "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, head TEXT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS lines (log TEXT, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (log, seq))",
  "CREATE TABLE IF NOT EXISTS docs (key TEXT PRIMARY KEY, text BLOB NOT NULL)",
  "CREATE TABLE IF NOT EXISTS blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL, putAt INTEGER NOT NULL)",
]
/** Busy, corrupt, full, not a database. After these nothing was written; after other failures of a commit, who knows. */
const CODES: { [result: number]: StorageErrorCode } = { 5: "unavailable", 11: "corrupt", 13: "quota", 26: "corrupt" }

/** One connection to the file, made at its first use. Writing is done in one transaction. */
export interface Database {
  read<T>(work: (driver: Driver) => T): Promise<T>
  write<T>(work: (driver: Driver) => T): Promise<T>
  readonly close: () => Promise<void>
}

export function createDatabase(open: () => Promise<Driver>): Database {
  const connection = connectOnce({
    open,
    setUp(driver) {
      for (const sql of SETUP) driver.prepare(sql).all()
    },
    close: (driver) => driver.close(),
  })
  return {
    read: async (work) => work(await connection.get()),
    write: async (work) => inTransaction(await connection.get(), work),
    close: connection.close,
  }
}

export function toError(cause: unknown, { doing }: Call): StorageError {
  const code = CODES[resultCode(cause)] ?? "unavailable"
  return new StorageError(code, `Could not ${doing}, SQLite refused: ${String(cause)}.`, { cause })
}

function inTransaction<T>(driver: Driver, work: (driver: Driver) => T): T {
  let committing = false
  driver.prepare("BEGIN IMMEDIATE").run()
  try {
    const result = work(driver)
    committing = true
    driver.prepare("COMMIT").run()
    return result
  } catch (cause) {
    try {
      driver.prepare("ROLLBACK").run()
    } catch {
      // After some failures SQLite has rolled back by itself, and there is nothing left to do.
    }
    if (!committing || resultCode(cause) in CODES) throw cause
    // What stands in the WAL may come back when that is next recovered, so that looking now would settle nothing.
    const message = "SQLite failed to commit; look later whether the change is there."
    throw new StorageError("indeterminate", message, { cause })
  }
}
