/** Opens a file as a connection. A missing file is made with mode 0600. */
import { closeSync, openSync, statSync } from "node:fs"
import { type Connection, createConnection } from "./connection.ts"
import { toFolderError, toStorageError } from "./errors.ts"
import { runtimeLibrary, type SqliteDatabase } from "./library.ts"

export interface ConnectOptions {
  /** Opens the file with another library than that of the runtime, such as `(path) => new Database(path)` of better-sqlite3. */
  readonly open?: ((path: string) => SqliteDatabase) | undefined
}

/**
 * Opens `path`, in an existing folder, with the library of the runtime: `node:sqlite` (Node, Deno) or `bun:sqlite`. Sets no
 * PRAGMA. A missing file is made so that this user alone can read it; SQLite gives the files that it keeps beside it the same mode.
 * `":memory:"` is a database in memory, without a file.
 *
 * Throws `unsupported` if the runtime has no SQLite and `open` is missing, `unavailable` if the file cannot be opened. A file that is no
 * database is reported by the first statement.
 */
export function connect(path: string, { open = runtimeLibrary() }: ConnectOptions = {}): Connection {
  if (path !== ":memory:") createFile(path)
  try {
    return createConnection(open(path))
  } catch (error) {
    throw toStorageError(error, path, 0)
  }
}

/**
 * Opens an existing file of another program with the library of the runtime. Nothing in the database can be changed, also not by closing
 * it. Throws as {@link connect}; `unavailable` for a missing file.
 */
export function connectReadOnly(path: string): Connection {
  const open = runtimeLibrary("read")
  try {
    return createConnection(open(path))
  } catch (error) {
    throw toStorageError(error, path, 0)
  }
}

/**
 * Tells the file at a path from one that took its place. Compare it before each use of a connection: SQLite goes on writing to a file that was
 * removed or replaced, which nobody will ever read. Empty if there is no file. Throws as {@link toFolderError} if its folder cannot be used.
 */
export function fileIdentity(path: string): string {
  try {
    const file = statSync(path, { bigint: true, throwIfNoEntry: false })
    return file === undefined ? "" : `${file.dev}/${file.ino}`
  } catch (error) {
    // Bun and Node 22 also throw for a file in the place of the folder.
    throw toFolderError(error, `The folder of ${path}`)
  }
}

/**
 * An existing file is not opened: closing it would release the locks that SQLite has on it in this process
 * (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch {
    // It exists, or SQLite fails as well and says why.
  }
}
