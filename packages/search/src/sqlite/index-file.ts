/**
 * The file of an index in its folder. Each file has a name that is never used again, and the greatest name counts. So a damaged file can be
 * removed while other processes have it open: they never share its `-wal` file with another one, notice the new name, and go on there.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createIds } from "@sessions/core/format"
import { StorageError } from "@sessions/core/storage"
import {
  type Connection,
  connect,
  type ConnectOptions,
  retryWhileLocked,
  toFolderError,
  toStorageError,
} from "@sessions/sqlite/driver"
import { setUp } from "./schema.ts"

const FILE = /^([0-9A-HJKMNP-TV-Z]{26})\.db$/
const newName = createIds()

/** Milliseconds that a call waits while another process has locked the file. */
const LOCK_TIMEOUT = 10_000

/** A file that is damaged again directly after it was made shows that the disk is. */
const MOST_REBUILDS = 3

export interface IndexFile {
  /**
   * Runs `work`, which must end in the same tick, and again while the file is locked. If the file turns out to be damaged, it is removed, and
   * `work` runs on a new one.
   */
  use<T>(work: (db: Connection, name: string) => T): Promise<T>
  /** Removes the file. The next use makes another one. */
  remove(): Promise<void>
  close(): void
}

export function createIndexFile(folder: string, options: ConnectOptions): IndexFile {
  let opened: { readonly db: Connection; readonly name: string } | undefined
  let isClosed = false

  function close(): void {
    const last = opened
    opened = undefined
    try {
      last?.db.close()
    } catch {
      // A damaged file; its descriptors are closed all the same.
    }
  }

  function open(): { readonly db: Connection; readonly name: string } {
    if (isClosed) throw new StorageError("closed", "The index was closed. Create another one.")
    const newest = namesIn(folder).at(-1)
    if (opened !== undefined && opened.name === newest) return opened
    close()
    const name = newest ?? newName()
    if (newest === undefined) makeFolder(folder)
    const db = connect(pathOf(folder, name), options)
    try {
      db.exec(
        "PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON",
      )
      setUp(db, folder)
    } catch (error) {
      db.close()
      throw isDamage(error) ? new DamagedFile(name, error) : error
    }
    opened = { db, name }
    // Another process may have made one at the same time; then the lesser name goes.
    for (const other of namesIn(folder)) if (other < name) removeFile(folder, other)
    return opened
  }

  async function use<T>(work: (db: Connection, name: string) => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await retryWhileLocked(
          () => {
            const { db, name } = open()
            try {
              return work(db, name)
            } catch (error) {
              throw isDamage(error) ? new DamagedFile(name, error) : error
            }
          },
          { path: folder, timeout: LOCK_TIMEOUT },
        )
      } catch (error) {
        if (!(error instanceof DamagedFile)) throw error
        if (attempt > MOST_REBUILDS) throw error.reason
        close()
        removeFile(folder, error.name)
      }
    }
  }

  return {
    use,
    async remove() {
      close()
      for (const name of namesIn(folder)) removeFile(folder, name)
    },
    close() {
      isClosed = true
      close()
    },
  }
}

/** The file with this name cannot be used: it is removed. */
class DamagedFile extends Error {
  override readonly name: string
  readonly reason: unknown

  constructor(name: string, reason: unknown) {
    super("The index is damaged.")
    this.name = name
    this.reason = reason
  }
}

/** Messages of SQLite about a file that lacks tables, has them without the version that they are made with, or was cut off while it is open, beside the codes for a damaged one. */
const DAMAGE =
  /no such table|already exists|unsupported file format|no such column|vtable constructor failed|SQL logic error|disk I\/O error/

/** Errors of SQLite that a sound file does not cause, and those of the checks of rows. */
function isDamage(error: unknown): boolean {
  const { code, message } = toStorageError(error, "", 0) as { readonly code?: unknown; readonly message?: unknown }
  return code === "corrupt" || DAMAGE.test(String(message))
}

/** In ascending order. */
function namesIn(folder: string): string[] {
  let files: string[]
  try {
    files = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw unusableError(folder, error)
  }
  return files.flatMap((file) => FILE.exec(file)?.[1] ?? []).sort()
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusableError(folder, error)
  }
}

/** The database first: without it, no process opens the files beside it. */
function removeFile(folder: string, name: string): void {
  const path = pathOf(folder, name)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      rmSync(file, { force: true })
    } catch (error) {
      throw unusableError(folder, error)
    }
  }
}

function pathOf(folder: string, name: string): string {
  return join(folder, `${name}.db`)
}

function unusableError(folder: string, cause: unknown): StorageError {
  return toFolderError(cause, `The folder of the search index, ${folder},`)
}
