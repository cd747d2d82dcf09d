import type { CallOptions, StorageErrorCode } from "@sessions/core/storage"
import { checkSignal, StorageError } from "@sessions/core/storage"
import type { Driver } from "./driver.ts"
import { resultCode } from "./driver.ts"

type Check<A extends unknown[], C> = readonly [(...args: A) => C, ...A]
type Work<C, T> = (driver: Driver, checked: Awaited<C>) => T
type Call = <A extends unknown[], C, T>(o: CallOptions | undefined, check: Check<A, C>, work: Work<C, T>) => Promise<T>

/** One connection to the file, made at its first use. */
export interface Database {
  /** Checks (a function and its arguments), then works in one go, with what the check gave. */
  readonly use: Call
  /** The same in one transaction. */
  readonly write: Call
  readonly close: () => Promise<void>
}

const SETUP = [
  "PRAGMA busy_timeout = 2000",
  "PRAGMA journal_mode = WAL",
  // With NORMAL a WAL acknowledges before the disk has it; fullfsync empties the disk's own cache on macOS.
  "PRAGMA synchronous = FULL",
  "PRAGMA fullfsync = ON",
  // AUTOINCREMENT gives no key twice, so the reader of a deleted log never meets another's lines.
  `CREATE TABLE IF NOT EXISTS sessions (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, log TEXT NOT NULL,
    next INTEGER NOT NULL, bytes INTEGER NOT NULL, updatedAt INTEGER NOT NULL, info BLOB, infoNext INTEGER)`,
  "CREATE TABLE IF NOT EXISTS lines (key INTEGER, seq INTEGER, line BLOB NOT NULL, PRIMARY KEY (key, seq))",
  "CREATE TABLE IF NOT EXISTS docs (key TEXT PRIMARY KEY, version TEXT NOT NULL, text BLOB NOT NULL)",
  "CREATE TABLE IF NOT EXISTS blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL, putAt INTEGER NOT NULL)",
]
/** Busy, corrupt, full, not a database. After these nothing was written; after other failures of a commit, who knows. */
const CODES: { [result: number]: StorageErrorCode } = { 5: "unavailable", 11: "corrupt", 13: "quota", 26: "corrupt" }

export function createDatabase(storage: string, open: () => Promise<Driver>): Database {
  const underWay = new Set<Promise<unknown>>()
  let connection: Promise<Driver> | undefined
  let closed = false

  const run: Call = async (o, [check, ...args], work) => {
    if (closed) throw new StorageError("closed", "The storage was disposed of; make a new one.", { storage })
    checkSignal(o?.signal)
    const checked = await check(...args)
    try {
      const driver = await (connection ??= connect(open).catch(forget))
      checkSignal(o?.signal)
      return work(driver, checked)
    } catch (cause) {
      if (cause instanceof StorageError) throw cause
      const code = CODES[resultCode(cause)] ?? "unavailable"
      throw new StorageError(code, `SQLite refused: ${String(cause)}.`, { storage, cause })
    }
  }
  const use: Call = (o, check, work) => {
    const done = run(o, check, work).finally(() => underWay.delete(done))
    underWay.add(done)
    return done
  }
  return {
    use,
    write: (o, check, work) => use(o, check, (driver, checked) => inTransaction(driver, () => work(driver, checked))),
    async close() {
      closed = true
      await Promise.allSettled(underWay)
      const last = connection
      connection = undefined
      ;(await last)?.close()
    },
  }

  function forget(error: unknown): never {
    connection = undefined
    throw error
  }
}

async function connect(open: () => Promise<Driver>): Promise<Driver> {
  const driver = await open()
  try {
    for (const sql of SETUP) driver.prepare(sql).all()
    return driver
  } catch (error) {
    driver.close()
    throw error
  }
}

function inTransaction<T>(driver: Driver, work: () => T): T {
  const run = (sql: string) => driver.prepare(sql).run()
  let done: { readonly result: T } | undefined
  run("BEGIN IMMEDIATE")
  try {
    done = { result: work() }
    run("COMMIT")
    return done.result
  } catch (cause) {
    try {
      run("ROLLBACK")
    } catch {
      // After some failures SQLite has rolled back by itself, and there is nothing left to do.
    }
    if (done === undefined || resultCode(cause) in CODES) throw cause
    // What stands in the WAL may come back when that is next recovered, so that looking now would settle nothing.
    throw new StorageError("indeterminate", "SQLite failed to commit; look later whether the change is there.", {
      cause,
    })
  }
}
