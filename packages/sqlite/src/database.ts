/**
 * The database of a storage: opens the file, runs reads and write transactions, and waits in JavaScript while the file is locked.
 *
 * A transaction begins, writes and commits in one tick, so it is never open while this process does something else. `busy_timeout` is 0,
 * because SQLite would wait by blocking the event loop.
 */
import { connectOnce, StorageError, unlessAborted } from "@sessions/core/storage"
import { connect } from "./driver/connect.ts"
import { type Connection, rollBack } from "./driver/connection.ts"
import { BUSY, FULL, READONLY, resultCode, type SqliteDatabase } from "./driver/library.ts"
import { LONGEST_PAUSE_MS, retryWhileLocked } from "./driver/locked.ts"
import { isCurrent, prepareFile, touch, upgrade } from "./schema.ts"

export interface DatabaseOptions {
  readonly path: string
  readonly open: ((path: string) => SqliteDatabase) | undefined
  readonly durability: "disk" | "os"
  readonly lockTimeout: number
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends ReadOptions {
  /**
   * Whether the change is stored; undefined if it may have been, and another writer has undone it since. Asked after a COMMIT whose outcome
   * is unknown; every other writer's change counts as missing.
   */
  readonly isStored: (db: Connection) => boolean | undefined
  /** The commit waits for the disk, also with durability `"os"`. The WAL is one file, so this covers all commits before it. */
  readonly synchronous?: boolean
}

export interface Database {
  /** Runs `work`, which only reads. Each statement sees the state at its begin. */
  readonly read: <T>(work: (db: Connection) => T, o?: ReadOptions) => Promise<T>
  /**
   * Runs `work` in a transaction; if it throws, nothing is written. Writes run in the order of their calls, also while the file is
   * locked. Rejects with `indeterminate` if the outcome of the COMMIT stays unknown.
   */
  readonly write: <T>(work: (db: Connection) => T, o: WriteOptions) => Promise<T>
  /** Resolves when everything that was committed before is on the disk, by whichever process. */
  readonly sync: (o: ReadOptions) => Promise<void>
  /**
   * Removes deleted content from the WAL, by writing everything to the main file. Returns false if another connection still reads an
   * older state.
   */
  readonly purge: () => Promise<boolean>
  /** A number that changes with each commit of another connection; undefined before the first use. */
  readonly dataVersion: () => number | undefined
  readonly close: () => Promise<void>
}

export function createDatabase({ path, open, durability, lockTimeout }: DatabaseOptions): Database {
  let opened: Connection | undefined
  const connection = connectOnce<Connection>({
    open: () => connect(path, { open }),
    async setUp(db) {
      await patiently(() => configure(db, durability))
      opened = db
    },
    close(db) {
      opened = undefined
      db.close()
    },
  })
  /** Settles when the last write has ended. */
  let last: Promise<unknown> = Promise.resolve()

  function patiently<T>(attempt: () => T, signal?: AbortSignal): Promise<T> {
    return retryWhileLocked(attempt, { path, timeout: lockTimeout, signal })
  }

  function write<T>(work: (db: Connection) => T, { signal, isStored, synchronous }: WriteOptions): Promise<T> {
    let isSent = false
    const before = last
    const written = (async () => {
      const db = await connection.get()
      await before
      return patiently(() => {
        isSent = true
        try {
          if (synchronous === true) db.exec(COMMITS.disk)
          return inTransaction(db, work, isStored)
        } catch (error) {
          isSent = false
          throw error
        } finally {
          if (synchronous === true) db.exec(COMMITS[durability])
        }
      }, signal)
    })()
    last = written.catch(() => undefined)
    return unlessAborted(written, signal, () => isSent)
  }

  return {
    read(work, { signal } = {}) {
      const done = connection.get().then((db) => patiently(() => work(db), signal))
      return unlessAborted(done, signal, () => false)
    },
    write,
    sync: ({ signal }) => write(touch, { signal, isStored: () => false, synchronous: true }),
    async purge() {
      const db = await connection.get()
      await last
      for (let attempt = 0; attempt < PURGES; attempt++) {
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, LONGEST_PAUSE_MS))
        if (isTruncated(db)) return true
      }
      return false
    },
    dataVersion: () => opened?.query<{ data_version: number }>("PRAGMA data_version").get()?.data_version,
    close: connection.close,
  }
}

/** Other processes hold the file for one statement or one transaction. */
const PURGES = 10

function isTruncated(db: Connection): boolean {
  try {
    return db.query<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0
  } catch {
    return false
  }
}

/** With NORMAL, SQLite acknowledges a commit before it is on the disk. `fullfsync` flushes the cache of the disk on macOS. */
const COMMITS = {
  disk: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON",
  os: "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = OFF",
} as const

function configure(db: Connection, durability: "disk" | "os"): void {
  db.exec("PRAGMA busy_timeout = 0")
  if (!isCurrent(db)) prepareFile(db)
  const mode = db.query<{ journal_mode: string }>("PRAGMA journal_mode = WAL").get()?.journal_mode
  if (mode !== "wal") {
    throw new StorageError(
      "unsupported",
      `SQLite cannot use a write-ahead log here (its mode is ${String(mode)}). Choose a path on a local disk: network drives have neither shared memory nor reliable locks.`,
    )
  }
  db.exec(COMMITS[durability])
  // Overwrites what is deleted, also in pages that are not used again.
  db.exec("PRAGMA secure_delete = ON")
  if (!isCurrent(db)) upgrade(db)
}

function inTransaction<T>(db: Connection, work: (db: Connection) => T, isStored: WriteOptions["isStored"]): T {
  let result: T
  db.run("BEGIN IMMEDIATE")
  try {
    result = work(db)
  } catch (error) {
    rollBack(db)
    throw error
  }
  try {
    db.run("COMMIT")
  } catch (cause) {
    rollBack(db)
    const code = resultCode(cause)
    // Neither has written the last page of the transaction, without which SQLite ignores the others.
    if (code === BUSY || code === FULL || code === READONLY) throw cause
    const stored = isSettled(db) ? isStored(db) : undefined
    if (stored === false) throw cause
    if (stored === undefined) {
      const message =
        "SQLite failed to commit, because of the disk. The change may have been stored or not: read what is there now."
      throw new StorageError("indeterminate", message, { cause })
    }
  }
  return result
}

/**
 * After a failed COMMIT its pages may be in the WAL and come back when the WAL is recovered after a crash. Another commit overwrites
 * them, so after that a change that is not there never will be.
 */
function isSettled(db: Connection): boolean {
  try {
    db.run("BEGIN IMMEDIATE")
    touch(db)
    db.run("COMMIT")
    return true
  } catch {
    rollBack(db)
    return false
  }
}
