/**
 * The tables of an index. `user_version` is the version of the tables.
 *
 * - `log`: a row for each session: how far its log was read. `n` is never used again.
 * - `entry`: a row for each entry with a text. `key` is its time in milliseconds times 1,000, or the next free number, so that the order of
 *   the keys is the order by time. `n` is that of its log. A row with another `n` is in no answer and is still to be removed.
 * - `word`: the words of each entry, by the same key, in FTS5. The tokenizer splits at blanks only, because words come as they are compared.
 *
 * Texts of logs are kept as JSON strings: some drivers cut a TEXT at its first NUL. `sum` is a checksum of a row.
 */
import { type Connection, requireFullText, transaction } from "@sessions/sqlite/driver"
import { SessionError } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"

/** A file of an older version is built again. */
const VERSION = 2

/** `secure-delete` removes the words of a deleted row from the pages of FTS5 at once; else they stay until a merge. */
const TABLES = `
  CREATE TABLE log (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL UNIQUE,
    log TEXT NOT NULL,
    next INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    last TEXT NOT NULL,
    whole INTEGER NOT NULL,
    extraction INTEGER NOT NULL,
    cwd TEXT,
    sum INTEGER NOT NULL
  );
  CREATE TABLE entry (
    key INTEGER PRIMARY KEY,
    n INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    at TEXT NOT NULL,
    sum INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE INDEX entry_id ON entry(n, id);
  CREATE VIRTUAL TABLE word USING fts5(words, prefix='1 2 3', tokenize='ascii');
  INSERT INTO word(word, rank) VALUES('secure-delete', 1);
  PRAGMA user_version = ${VERSION};
`

/** Makes the tables of a new file. Throws `unsupported` without FTS5, `newer_version` for a file with tables of a newer version, `corrupt` for an older one. */
export function setUp(db: Connection, folder: string): void {
  requireFullText(db)
  if (versionOf(db) === 0) {
    transaction(db, () => {
      // Another process may have made them meanwhile.
      if (versionOf(db) === 0) db.exec(TABLES)
    })
  }
  const version = versionOf(db)
  if (version > VERSION) {
    const message = `The search index in ${folder} is of a newer version of @sessions/search. Update this program, or delete the folder: the index is then built again.`
    throw new SessionError("newer_version", message)
  }
  if (version < VERSION) throw new StorageError("corrupt", `The search index in ${folder} is of an older version.`)
}

function versionOf(db: Connection): number {
  return db.query<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0
}
