import { StorageError } from "@sessions/core/storage"
import type { Connection } from "./connection.ts"

/** Throws `unsupported` if the SQLite of a connection has no FTS5, of which the message of SQLite only says that a module is missing. */
export function requireFullText(db: Connection): void {
  if (db.query("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").all().length > 0) return
  throw new StorageError(
    "unsupported",
    'The SQLite of this runtime has no full-text search (FTS5), as that of Node before 22.16: use a newer Node, Deno or Bun, or pass `open: (path) => new Database(path)` of "better-sqlite3".',
  )
}
