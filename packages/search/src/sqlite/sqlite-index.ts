/** The index in SQLite: rows in a table, words in FTS5. */
import { resolve } from "node:path"
import { SessionError } from "@sessions/core"
import { checkOptions, type OptionNames, StorageError } from "@sessions/core/storage"
import { type Connection, type SqliteDatabase, transaction } from "@sessions/sqlite/driver"
import { badCursorError, parseBest } from "../places.ts"
import {
  type Heads,
  type IndexAnswer,
  type IndexChange,
  type IndexedHead,
  type IndexHit,
  type IndexQuery,
  type IndexRow,
  isAt,
  type SearchIndex,
} from "../search-index.ts"
import { checksum } from "./checksum.ts"
import { createIndexFile } from "./index-file.ts"

export interface SqliteIndexOptions {
  /**
   * The folder of the index, on a local disk; made at the first use, for this user alone. It must be the index's own, such as
   * `./.sessions/.search`.
   */
  readonly folder: string
  /** Opens the file with another library than that of the runtime, such as `(path) => new Database(path)` of better-sqlite3. */
  readonly open?: (path: string) => SqliteDatabase
}

const OPTIONS: OptionNames<SqliteIndexOptions> = { folder: true, open: true }

/** Of an entry that is still to be removed. No log has it. */
const GONE = 0
/** Rows that one transaction removes: FTS5 rewrites a page for each word, up to 5 ms for each row. */
const PURGED = 8
/** Other processes read for some milliseconds at a time. */
const CHECKPOINTS = 10
const CHECKPOINT_PAUSE_MS = 32
/** Keys of one millisecond. 1,000 times a time before the year 2255 is a number that JavaScript has; later times count as that year. */
const KEYS = 1_000
const LATEST_TIME = Math.floor(Number.MAX_SAFE_INTEGER / KEYS) - 1_000_000_000
/** `"best"` ranks the newest of so many matches: ranking costs some 10 µs for each. */
const RANKED = 2_000

/** Several processes may use one folder. Throws `invalid` for unknown options and wrong values; the first call connects. */
export function createSqliteIndex(options: SqliteIndexOptions): SearchIndex {
  checkOptions("createSqliteIndex", options, OPTIONS)
  if (typeof options.folder !== "string" || options.folder === "")
    throw new SessionError("invalid", "createSqliteIndex needs `folder`, the path of a folder for the index alone.")
  const { open } = options
  const file = createIndexFile(resolve(options.folder), open === undefined ? {} : { open })
  let known: KnownHeads | undefined

  /** The heads as this transaction sees them. They are read again when another process has written. */
  function headsOf(db: Connection, name: string): KnownHeads {
    const version = db.query<{ data_version: number }>("PRAGMA data_version").get()?.data_version ?? 0
    if (known?.db !== db || known.version !== version) known = { db, name, version, heads: readHeads(db) }
    return known
  }

  return {
    heads: () => file.use((db, name) => ({ heads: inSnapshot(db, () => headsOf(db, name).heads), epoch: name })),

    write: (changes) =>
      file.use((db, name) => {
        const { written, held } = transaction(db, () => {
          const before = headsOf(db, name)
          const heads = new Map(before.heads)
          return { held: writeChanges(db, heads, changes), written: { ...before, heads } }
        })
        // A commit of this connection leaves its `data_version`.
        known = written
        return held
      }),

    query: (query) =>
      file.use((db, name) =>
        inSnapshot(db, (): IndexAnswer => {
          const { heads } = headsOf(db, name)
          return { ...(query.order === "best" ? findBest(db, query) : findNewest(db, query)), heads, epoch: name }
        }),
      ),

    async purge(signal) {
      for (let isDone = false; !isDone && !signal.aborted; ) {
        isDone = await file.use((db) => transaction(db, () => purgeSome(db)))
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
      // The write-ahead log has the removed rows until it is emptied, which a reader in another process delays.
      for (let attempt = 0; !signal.aborted; attempt++) {
        if (await file.use(emptyWriteAheadLog)) return
        if (attempt === CHECKPOINTS) throw readByOthersError(options.folder)
        await new Promise((resolve) => setTimeout(resolve, CHECKPOINT_PAUSE_MS))
      }
    },

    async clear() {
      known = undefined
      await file.remove()
    },

    async close() {
      known = undefined
      file.close()
    },
  }
}

/** Never changed: an answer holds it while later changes are written. */
interface KnownHeads {
  readonly db: Connection
  readonly name: string
  readonly version: number
  readonly heads: Heads
}

/** All statements of `work` see one state. */
function inSnapshot<T>(db: Connection, work: () => T): T {
  db.run("BEGIN")
  try {
    const result = work()
    db.run("COMMIT")
    return result
  } catch (error) {
    try {
      db.run("ROLLBACK")
    } catch {
      // SQLite has rolled back by itself.
    }
    throw error
  }
}

interface LogRow {
  readonly session: string
  readonly log: string
  readonly next: number
  readonly updated: number
  readonly last: string
  readonly whole: number
  readonly extraction: number
  readonly cwd: string | null
  readonly sum: number
}

const HEADS = "SELECT session, log, next, updated, last, whole, extraction, cwd, sum FROM log"

function readHeads(db: Connection): Map<string, IndexedHead> {
  const heads = new Map<string, IndexedHead>()
  for (const { session, log, next, updated, last, whole, extraction, cwd, sum } of db.query<LogRow>(HEADS).all()) {
    if (sum !== checksum(session, log, next, updated, last, whole, extraction, cwd)) throw damagedError()
    const end = { log: fromJson(log), next, updatedAt: updated, last: fromJson(last) }
    heads.set(session, { ...end, whole: whole === 1, extraction })
  }
  return heads
}

/** `heads` is changed with the tables. */
function writeChanges(db: Connection, heads: Map<string, IndexedHead>, changes: readonly IndexChange[]): boolean {
  let held = true
  for (const change of changes) {
    const { session, expect, head } = change
    if (!isAt(heads.get(session), expect)) held = false
    else {
      writeChange(db, change)
      if (head === undefined) heads.delete(session)
      else heads.set(session, head)
    }
  }
  return held
}

const OF_SESSION = "SELECT n, cwd FROM log WHERE session = ?"
const FORGET = "DELETE FROM log WHERE session = ?"
const PUT = `INSERT INTO log(session, log, next, updated, last, whole, extraction, cwd, sum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT(session) DO UPDATE SET log = excluded.log, next = excluded.next, updated = excluded.updated, last = excluded.last,
    whole = excluded.whole, extraction = excluded.extraction, cwd = excluded.cwd, sum = excluded.sum`
const HIDE_LOG = `UPDATE entry SET n = ${GONE} WHERE n = ?`
const HIDE_ENTRY = `UPDATE entry SET n = ${GONE} WHERE n = ? AND id = ?`
const ADD = "INSERT INTO entry(key, n, seq, id, role, at, sum, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
const ADD_WORDS = "INSERT INTO word(rowid, words) VALUES (?, ?)"

function writeChange(db: Connection, { session, head, reset, cwd, removed, rows }: IndexChange): void {
  const before = db.query<{ n: number; cwd: string | null }>(OF_SESSION).get(session)
  if (reset && before !== undefined) {
    db.run(HIDE_LOG, before.n)
    db.run(FORGET, session)
  }
  if (head === undefined) return
  const folder = cwd === undefined ? (reset ? null : (before?.cwd ?? null)) : JSON.stringify(cwd)
  const [log, last, whole] = [JSON.stringify(head.log), JSON.stringify(head.last), head.whole ? 1 : 0]
  const { next, updatedAt, extraction } = head
  db.run(
    PUT,
    session,
    log,
    next,
    updatedAt,
    last,
    whole,
    extraction,
    folder,
    checksum(session, log, next, updatedAt, last, whole, extraction, folder),
  )
  const { n } = db.query<{ n: number }>(OF_SESSION).get(session) as { n: number }
  for (const id of removed) db.run(HIDE_ENTRY, n, JSON.stringify(id))
  for (const row of rows) addRow(db, session, n, row)
}

function addRow(
  db: Connection,
  session: string,
  n: number,
  { seq, entryId, role, timestamp, time, text, words }: IndexRow,
): void {
  const key = freeKey(db, Math.min(time, LATEST_TIME))
  const [id, of, at, body] = [entryId, role, timestamp, text].map((one) => JSON.stringify(one)) as [
    string,
    string,
    string,
    string,
  ]
  db.run(ADD, key, n, seq, id, of, at, checksum(session, seq, id, of, at, body), body)
  db.run(ADD_WORDS, key, fewRepeated(words).join(" "))
}

const LAST_KEY = "SELECT max(key) AS key FROM entry WHERE key >= ? AND key < ?"

/**
 * The next key of a millisecond. If its keys are used up, as by a log whose entries all have one time, that of a later one: 1, 3, 6, 10, …
 * ms later, so that few have to be looked at.
 */
function freeKey(db: Connection, time: number): number {
  for (let [at, step] = [time, 1]; ; at += step++) {
    const last = db.query<{ key: number | null }>(LAST_KEY).get(at * KEYS, (at + 1) * KEYS)?.key ?? at * KEYS - 1
    if (last + 1 < (at + 1) * KEYS) return last + 1
  }
}

/** BM25 hardly rises after the fourth time, and each word costs space. */
const MOST_TIMES = 4

function fewRepeated(words: readonly string[]): string[] {
  const times = new Map<string, number>()
  return words.filter((word) => {
    const before = times.get(word) ?? 0
    times.set(word, before + 1)
    return before < MOST_TIMES
  })
}

const TO_PURGE = `SELECT key FROM entry WHERE n = ${GONE} LIMIT ${PURGED}`

/** Returns whether nothing is left. */
function purgeSome(db: Connection): boolean {
  const rows = db.query<{ key: number }>(TO_PURGE).all()
  for (const { key } of rows) {
    db.run("DELETE FROM word WHERE rowid = ?", key)
    db.run("DELETE FROM entry WHERE key = ?", key)
  }
  return rows.length < PURGED
}

function emptyWriteAheadLog(db: Connection): boolean {
  return db.query<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0
}

function readByOthersError(folder: string): StorageError {
  const message = `What was deleted is still in the write-ahead log of the search index in ${folder}, because another process reads it. Repeat the call.`
  return new StorageError("unavailable", message)
}

interface FoundRow {
  readonly key: number
  readonly seq: number
  readonly id: string
  readonly role: string
  readonly at: string
  readonly sum: number
  readonly text: string
  readonly session: string
}

const FIELDS = "e.key, e.seq, e.id, e.role, e.at, e.sum, e.text, l.session"
const FILTERS = "(?2 IS NULL OR e.role = ?2) AND (?3 IS NULL OR l.cwd = ?3)"
/** CROSS JOIN keeps the order of the tables: FTS5 gives the keys from the greatest down, so a page ends with its last row. */
const NEWEST = `SELECT ${FIELDS} FROM word CROSS JOIN entry e ON e.key = word.rowid CROSS JOIN log l ON l.n = e.n
  WHERE word MATCH ?1 AND ${FILTERS} AND word.rowid < ?4 ORDER BY word.rowid DESC`
const BEST = `SELECT ${FIELDS} FROM (
    SELECT word.rowid AS key, bm25(word) AS score FROM word CROSS JOIN entry e ON e.key = word.rowid CROSS JOIN log l ON l.n = e.n
    WHERE word MATCH ?1 AND ${FILTERS} ORDER BY word.rowid DESC LIMIT ${RANKED}
  ) f CROSS JOIN entry e ON e.key = f.key CROSS JOIN log l ON l.n = e.n ORDER BY f.score, f.key DESC`

function findNewest(db: Connection, query: IndexQuery): Pick<IndexAnswer, "hits" | "next"> {
  const { cursor, limit } = query
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(/^key\/(\d{1,16})$/.exec(cursor)?.[1])
  if (!Number.isSafeInteger(before)) throw badCursorError(cursor ?? "")
  const rows = firstRows(db.query<FoundRow>(NEWEST).iterate(...valuesOf(query), before), query, limit + 1)
  const last = rows[limit - 1]
  return { hits: rows.slice(0, limit).map(toHit), ...(rows.length > limit ? { next: `key/${last?.key}` } : {}) }
}

function findBest(db: Connection, query: IndexQuery): Pick<IndexAnswer, "hits" | "next"> {
  const from = query.cursor === undefined ? 0 : parseBest(query.cursor)
  const end = from + query.limit
  const rows = firstRows(db.query<FoundRow>(BEST).iterate(...valuesOf(query)), query, end + 1)
  return { hits: rows.slice(from, end).map(toHit), ...(rows.length > end ? { next: `best/${end}` } : {}) }
}

function firstRows(found: Iterable<FoundRow>, { without }: IndexQuery, count: number): FoundRow[] {
  const rows: FoundRow[] = []
  for (const row of found) {
    if (without.has(row.session)) continue
    rows.push(row)
    if (rows.length === count) break
  }
  return rows
}

function valuesOf({ words, role, cwd }: IndexQuery): [string, string | null, string | null] {
  // Words have letters and digits only, so nothing in them is an operator.
  const match = words.map((word) => `"${word}"*`).join(" ")
  return [match, role === undefined ? null : JSON.stringify(role), cwd === undefined ? null : JSON.stringify(cwd)]
}

function toHit({ session, seq, id, role, at, sum, text }: FoundRow): IndexHit {
  if (sum !== checksum(session, seq, id, role, at, text)) throw damagedError()
  return { session, seq, entryId: fromJson(id), role: fromJson(role), timestamp: fromJson(at), text: fromJson(text) }
}

function fromJson(text: string): string {
  return JSON.parse(text) as string
}

function damagedError(): StorageError {
  return new StorageError("corrupt", "A row of the search index is not as it was written.")
}
