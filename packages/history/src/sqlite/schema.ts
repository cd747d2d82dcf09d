/**
 * The tables of the file: `history`, the same as in a `history.db` of oh-my-pi, and `history_fts`, the index of its words, which triggers
 * keep up to date in the same transaction.
 *
 * `application_id` marks files that this package made, and `user_version` is the version of their tables. A file of oh-my-pi has neither
 * mark: its `user_version` is oh-my-pi's own, and stays as it is.
 */
import { StorageError } from "@sessions/core/storage"
import { type Connection, requireFullText, transaction } from "@sessions/sqlite/driver"

/** "hist" as ASCII. */
const APPLICATION = 0x68697374
const VERSION = 1

const TABLE = `
  CREATE TABLE history (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    prompt     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    cwd        TEXT
  );
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${VERSION};
`

const INDEXES = `
  CREATE INDEX IF NOT EXISTS idx_history_created_at ON history (created_at DESC);
  CREATE INDEX IF NOT EXISTS idx_history_cwd ON history (cwd);
`

/**
 * The lengths of starts of words that have an index. FTS5 merges the rows of all words with another start before it gives the first one:
 * 20 ms for "test" in a million prompts, 100 ms for five frequent words. Words with longer starts are rare. All lengths to 8 make the
 * index 1.6 times as large as those to 3.
 */
const PREFIXES = "prefix='1 2 3 4 5 6 7 8'"
const WORDS = `
  CREATE VIRTUAL TABLE IF NOT EXISTS history_fts USING fts5(prompt, content='history', content_rowid='id', ${PREFIXES});
  INSERT INTO history_fts (history_fts, rank) VALUES ('secure-delete', 1);
  CREATE TRIGGER IF NOT EXISTS history_ai AFTER INSERT ON history BEGIN
    INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt);
  END;
  CREATE TRIGGER IF NOT EXISTS history_ad AFTER DELETE ON history BEGIN
    INSERT INTO history_fts (history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
  END;
  CREATE TRIGGER IF NOT EXISTS history_au AFTER UPDATE OF prompt ON history BEGIN
    INSERT INTO history_fts (history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
    INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt);
  END;
`
const DROP_WORDS = `
  DROP TRIGGER IF EXISTS history_ai;
  DROP TRIGGER IF EXISTS history_ad;
  DROP TRIGGER IF EXISTS history_au;
  DROP TABLE IF EXISTS history_fts;
`
const NAMES = [
  "idx_history_created_at",
  "idx_history_cwd",
  "history_fts",
  "history_ai",
  "history_ad",
  "history_au",
] as const

/**
 * Prepares a connection: makes missing tables, and makes the index of words again if it was missing or if another program changed rows
 * without it. Throws `corrupt` for a file of another program, `unsupported` for a newer version and without FTS5, and leaves such files as they are.
 */
export function setUp(db: Connection): void {
  db.exec("PRAGMA busy_timeout = 0")
  requireFullText(db)
  checkFile(db)
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
  if (!isComplete(db)) transaction(db, () => complete(db))
}

/** Makes the index of words again from the prompts, whatever is in it. */
export function remakeWords(db: Connection): void {
  transaction(db, () => {
    db.exec(`${DROP_WORDS} ${WORDS} INSERT INTO history_fts (history_fts) VALUES ('rebuild')`)
  })
}

function checkFile(db: Connection): void {
  if (!hasTables(db)) return
  const columns = db.query<{ name: string }>("SELECT name FROM pragma_table_info('history')").all()
  const isHistory = ["id", "prompt", "created_at", "cwd"].every((name) =>
    columns.some((column) => column.name === name),
  )
  const application = pragma(db, "application_id")
  if (!isHistory || (application !== 0 && application !== APPLICATION)) {
    throw new StorageError(
      "corrupt",
      "The file is a SQLite database of another program. Choose another path; a history needs a file of its own.",
    )
  }
  const version = pragma(db, "user_version")
  if (application !== APPLICATION || version <= VERSION) return
  throw new StorageError(
    "unsupported",
    `The history has version ${version} of the tables, and this program knows ${VERSION}. Update @sessions/history.`,
  )
}

function isComplete(db: Connection): boolean {
  const found = new Set(
    db
      .query<{ name: string }>("SELECT name FROM sqlite_schema")
      .all()
      .map(({ name }) => name),
  )
  return NAMES.every((name) => found.has(name)) && hasPrefixes(db) && erases(db) && !isStale(db)
}

/** Whether the index of words has its starts. One that another program or an earlier version made may lack some. */
function hasPrefixes(db: Connection): boolean {
  const index = db.query<{ sql: string }>("SELECT sql FROM sqlite_schema WHERE name = 'history_fts'").get()
  return index?.sql.includes(PREFIXES) === true
}

/** Another process may have been first, so each step is safe to repeat. */
function complete(db: Connection): void {
  if (!hasTables(db)) db.exec(TABLE)
  db.exec(INDEXES)
  if (!hasPrefixes(db)) db.exec("DROP TABLE IF EXISTS history_fts")
  db.exec(WORDS)
  if (isStale(db)) db.exec("INSERT INTO history_fts (history_fts) VALUES ('rebuild')")
}

/** Whether the index removes the words of a deleted prompt from the file, and does not only mark them as deleted. */
function erases(db: Connection): boolean {
  return db.query("SELECT 1 FROM history_fts_config WHERE k = 'secure-delete' AND v = 1").get() !== undefined
}

/** Both counts read an index: some milliseconds for a million prompts. */
function isStale(db: Connection): boolean {
  const rows = "SELECT (SELECT count(*) FROM history) AS count, (SELECT max(id) FROM history) AS last"
  const indexed =
    "SELECT (SELECT count(*) FROM history_fts_docsize) AS count, (SELECT max(id) FROM history_fts_docsize) AS last"
  const [a, b] = [rows, indexed].map((sql) => db.query<{ count: number; last: number | null }>(sql).get())
  return a?.count !== b?.count || a?.last !== b?.last
}

/** Removes all prompts and all words. One row after the other would take a minute for a million. */
export function removeAll(db: Connection): number {
  const count = db.query<{ count: number }>("SELECT count(*) AS count FROM history").get()?.count ?? 0
  db.exec(`${DROP_WORDS} DELETE FROM history; ${WORDS}`)
  return count
}

/** A table of newer versions of oh-my-pi has each prompt once, with the time at which it was typed last. */
export function hasEachOnce(db: Connection): boolean {
  const sql = `SELECT 1 FROM pragma_index_list('history') AS i
    WHERE i."unique" = 1 AND (SELECT group_concat(name) FROM pragma_index_info(i.name)) = 'prompt'`
  return db.query(sql).get() !== undefined
}

function hasTables(db: Connection): boolean {
  return db.query("SELECT 1 FROM sqlite_schema").get() !== undefined
}

function pragma(db: Connection, name: "application_id" | "user_version"): number {
  return db.query<Record<string, number>>(`PRAGMA ${name}`).get()?.[name] ?? 0
}
