/** Creates a history in a SQLite file. */
import { resolve } from "node:path"
import { checkOptions, type OptionNames, StorageError } from "@sessions/core/storage"
import type { SqliteDatabase } from "@sessions/sqlite/driver"
import { createHistory, HISTORY_OPTIONS } from "../history.ts"
import type { HistoryOptions, PromptHistory } from "../types.ts"
import { createStore } from "./store.ts"

export interface SqliteHistoryOptions extends HistoryOptions {
  /**
   * The file, on a local disk; made with mode 0600 at the first use, with its folder. A `history.db` of oh-my-pi is used as it is. SQLite
   * keeps two files beside it, `-wal` and `-shm`.
   */
  readonly path: string
  /** Opens the file with another library than that of the runtime, such as `(path) => new Database(path)` of better-sqlite3. */
  readonly open?: (path: string) => SqliteDatabase
}

const OPTIONS: OptionNames<SqliteHistoryOptions> = { ...HISTORY_OPTIONS, path: true, open: true }

/**
 * A history in one SQLite file, for all processes of one machine. Opens the file at its first use: a runtime without SQLite gets
 * `unsupported` there, a file of another program `corrupt`. A file that is locked is tried again from a timer, for 5 s. Throws `invalid`
 * for unknown options and wrong values.
 */
export function createSqliteHistory(o: SqliteHistoryOptions): PromptHistory {
  checkOptions("createSqliteHistory", o, OPTIONS)
  if (typeof o.path !== "string" || o.path === "" || o.path === ":memory:") {
    const message = "createSqliteHistory: `path` must be the path of a file. In memory, use createMemoryHistory()."
    throw new StorageError("invalid", message)
  }
  if (o.open !== undefined && typeof o.open !== "function")
    throw new StorageError("invalid", "createSqliteHistory: `open` must be a function that opens a file.")
  return createHistory("createSqliteHistory", createStore(resolve(o.path), o.open), o)
}
