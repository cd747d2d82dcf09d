/**
 * The database of a storage: opens the file, runs reads and write transactions, and waits in JavaScript while the file is locked.
 *
 * A transaction begins, writes and commits in one tick, so it is never open while this process does something else. `busy_timeout` is 0,
 * because SQLite would wait by blocking the event loop.
 */
import { closeSync, fsyncSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { connectOnce, type ConnectionSource, hasStorageCode, StorageError, unlessAborted } from "@sessions/core/storage"
import { connect, fileIdentity } from "./driver/connect.ts"
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
  /** It frees space, so it also tries to go on where none is left. */
  readonly frees?: boolean
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
  let opened: { readonly db: Connection; readonly file: string } | undefined
  const source: ConnectionSource<Connection> = {
    open: () => connect(path, { open }),
    async setUp(db) {
      const file = fileIdentity(path)
      await patiently(() => configure(db, durability))
      opened = { db, file }
    },
    close(db) {
      if (opened?.db === db) opened = undefined
      db.close()
    },
  }
  let connection = connectOnce(source)
  let isClosed = false

  /** The connection, opened again if the file was removed or replaced meanwhile. */
  async function current(): Promise<Connection> {
    if (isGone()) {
      const old = connection
      opened = undefined
      if (!isClosed) connection = connectOnce(source)
      // SQLite itself sees that the file was moved, and leaves the files alone that are beside the new one.
      await old.close()
    }
    return connection.get()
  }

  /** A library that opens something else than a file at the path is not asked for it. */
  function isGone(): boolean {
    return opened !== undefined && opened.file !== "" && fileIdentity(path) !== opened.file
  }

  /** Settles when the last write has ended. */
  let last: Promise<unknown> = Promise.resolve()

  function patiently<T>(attempt: () => T, signal?: AbortSignal): Promise<T> {
    return retryWhileLocked(attempt, { path, timeout: lockTimeout, signal })
  }

  function write<T>(work: (db: Connection) => T, { signal, isStored, synchronous, frees }: WriteOptions): Promise<T> {
    let isSent = false
    const before = last
    const written = (async () => {
      await before
      const db = await current()
      return patiently(() => {
        isSent = true
        try {
          if (synchronous === true) db.exec(COMMITS.disk)
          try {
            return inTransaction(db, work, isStored)
          } catch (error) {
            // What the write-ahead log has is written to the main file, so that the transaction takes its place there.
            if (frees !== true || resultCode(error) !== FULL || !isTruncated(db, "RESTART")) throw error
            return inTransaction(db, work, isStored)
          }
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
      const done = current().then((db) => patiently(() => work(db), signal))
      return unlessAborted(done, signal, () => false)
    },
    write,
    async sync({ signal }) {
      try {
        await write(touch, { signal, isStored: () => false, synchronous: true })
      } catch (error) {
        // What was committed is in the write-ahead log, so nothing need be written to have it on the disk.
        if (!hasStorageCode(error, "quota")) throw error
        syncLog(path)
      }
    },
    async purge() {
      await last
      const db = await current()
      for (let attempt = 0; attempt < PURGES; attempt++) {
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, LONGEST_PAUSE_MS))
        if (isTruncated(db)) return true
      }
      return false
    },
    dataVersion() {
      // The watchers then ask for the heads in the file that is there now.
      if (opened === undefined || isGone()) return undefined
      return opened.db.query<{ data_version: number }>("PRAGMA data_version").get()?.data_version
    },
    async close() {
      isClosed = true
      await connection.close()
    },
  }
}

/**
 * Makes the write-ahead log durable, and its name. The main file must not be opened here: closing it would release the locks that SQLite has
 * on it in this process. Without a log everything is in the main file, which SQLite has synced.
 */
function syncLog(path: string): void {
  for (const [name, flags] of [
    [`${path}-wal`, "r+"],
    ...(process.platform === "win32" ? [] : [[dirname(path), "r"]]),
  ] as const) {
    let fd: number
    try {
      fd = openSync(name, flags)
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") return
      throw error
    }
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}

/** Other processes hold the file for one statement or one transaction. */
const PURGES = 10

function isTruncated(db: Connection, how: "TRUNCATE" | "RESTART" = "TRUNCATE"): boolean {
  try {
    return db.query<{ busy: number }>(`PRAGMA wal_checkpoint(${how})`).get()?.busy === 0
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
