/**
 * The tables, with a version, and the steps that lead an older file to it. `application_id` says that a file belongs to this package,
 * `user_version` which version of the tables it has.
 *
 * - `session`: a row per log. `n` is the log's number in this file and is never used again. `id` is null for a log that belongs to no
 *   session: with `next` 0 a replace is writing it, otherwise it is deleted and its lines are being removed. `updated_at` and `grown_at`: see
 *   `order.ts`. `mark`: of the last line, if `mark_bytes` is `bytes`; a process of an older version that has the file open does not set them.
 * - `batch`: consecutive lines of a log, each with its LF. An append is one row, or several of at most 256 KB. `seq` is that of its
 *   first line, `append` the identity of the append. Bytes, not texts: `length()`, LIKE and many tools stop at a NUL in a text.
 *   A table with a rowid and a small index: rows are added at the end of the table, so its pages are full. Ordered by log, pages would
 *   be split in half.
 * - `doc`, `blob`: documents and blobs.
 */
import { StorageError } from "@sessions/core/storage"
import { type Connection, rollBack } from "./driver/connection.ts"
import { READONLY, resultCode } from "./driver/library.ts"

/** "sess" as ASCII. */
const APPLICATION = 0x73657373

/**
 * 8 KB: three rows with a line of 2 KB fit a page. With 4 KB, the default, one fits, and the file has twice the size of its lines.
 * Larger pages make each append write more, because the WAL has whole pages.
 */
const PAGE_BYTES = 8192

type Step = string | ((db: Connection) => void)

/** `UPGRADES[v]` leads from version v to v + 1; a new file is version 0. A published step is never changed. */
export const UPGRADES: readonly Step[] = [
  `
  CREATE TABLE session (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT UNIQUE,
    log        TEXT NOT NULL,
    next       INTEGER NOT NULL CHECK (next >= 0),
    bytes      INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    info       BLOB,
    info_next  INTEGER
  ) STRICT;
  CREATE INDEX session_updated ON session (updated_at DESC, id DESC) WHERE id IS NOT NULL;
  CREATE TABLE batch (
    n      INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    lines  INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    append TEXT NOT NULL,
    body   BLOB NOT NULL,
    UNIQUE (n, seq)
  ) STRICT;
  CREATE TABLE doc (key TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE TABLE blob (hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, put_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${APPLICATION};
  `,
  (db) => {
    // It may be there: a process of version 1 that still has the file open sets the version back with each `touch`.
    const column = db.query("SELECT 1 FROM pragma_table_info('session') WHERE name = 'grown_at'").get()
    if (column === undefined) db.exec("ALTER TABLE session ADD COLUMN grown_at INTEGER NOT NULL DEFAULT 0")
  },
  (db) => {
    const column = db.query("SELECT 1 FROM pragma_table_info('session') WHERE name = 'mark'").get()
    if (column === undefined)
      db.exec("ALTER TABLE session ADD COLUMN mark INTEGER; ALTER TABLE session ADD COLUMN mark_bytes INTEGER")
  },
]

/** Sets what must be known before the first table is made. */
export function prepareFile(db: Connection): void {
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
}

/** Whether the file has the tables of this version. Throws for a file of another program and for a newer version. */
export function isCurrent(db: Connection, steps: readonly Step[] = UPGRADES): boolean {
  // First the tables: another process may make them, with `application_id`, between the two statements.
  const isEmpty = db.query("SELECT 1 FROM sqlite_schema").get() === undefined
  if (isEmpty) return false
  const application = db.query<{ application_id: number }>("PRAGMA application_id").get()?.application_id
  if (application !== APPLICATION) {
    throw new StorageError(
      "corrupt",
      "The file is a SQLite database of another program. Choose another path; sessions need a file of their own.",
    )
  }
  const version = versionOf(db)
  if (version > steps.length) {
    throw new StorageError(
      "unsupported",
      `The file has version ${version} of the tables, and this program knows ${steps.length}. Update @sessions/sqlite.`,
    )
  }
  return version === steps.length
}

/** Makes the tables, or leads older ones to this version, in one transaction: a crash or an error leaves the file as it was. */
export function upgrade(db: Connection, steps: readonly Step[] = UPGRADES): void {
  const version = versionOf(db)
  try {
    db.run("BEGIN IMMEDIATE")
    // Another process may have been first.
    if (!isCurrent(db, steps)) {
      for (const step of steps.slice(versionOf(db))) {
        if (typeof step === "string") db.exec(step)
        else step(db)
      }
    }
    db.exec(`PRAGMA user_version = ${steps.length}`)
    db.run("COMMIT")
  } catch (error) {
    rollBack(db)
    if (resultCode(error) !== READONLY) throw error
    const message = `The file has version ${version} of the tables and is read-only. Give this process the right to write, so that it can lead them to version ${steps.length}.`
    throw new StorageError("unsupported", message, { cause: error })
  }
}

function versionOf(db: Connection): number {
  return db.query<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0
}

/**
 * Writes a page without changing anything: a transaction with this and nothing else is written to the WAL. Call it in one, because a newer
 * process may have upgraded the file since it was opened.
 */
export function touch(db: Connection): void {
  db.exec(`PRAGMA user_version = ${versionOf(db)}`)
}
