/**
 * The interface to a SQLite library, and the library of the runtime: `node:sqlite` in Node and Deno, `bun:sqlite` in Bun. The classes
 * of both, and of better-sqlite3, have this shape.
 */
import { StorageError } from "@sessions/core/storage"

/** Texts that may hold NUL are passed as bytes: some drivers and most tools cut a TEXT at its first NUL. */
export type SqliteValue = string | number | Uint8Array | null

/** The parameters are not `readonly` arrays, because those of better-sqlite3 are none. */
export interface SqliteStatement {
  /** The first row; undefined or null if there is none. */
  get(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown[]
  /** Row by row. Ending the loop ends the statement. */
  iterate(...values: SqliteValue[]): Iterable<unknown>
  run(...values: SqliteValue[]): { readonly changes: number | bigint }
  /** Releases the statement. Bun keeps the file open until all are released; elsewhere `close` releases them. */
  finalize?(): unknown
}

/** A connection to a SQLite file. Integers are returned as numbers. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
}

type Library = Readonly<Record<string, new (path: string, options?: object) => SqliteDatabase>>

/** Opens a file with the library of the runtime. */
export function openDatabase(path: string): SqliteDatabase {
  return runtimeLibrary()(path)
}

/** The function that opens files with the library of the runtime. Throws `unsupported` if there is none. */
export function runtimeLibrary(mode: "write" | "read" = "write"): (path: string) => SqliteDatabase {
  const [module, name, option] =
    "Bun" in globalThis
      ? (["bun:sqlite", "Database", "readonly"] as const)
      : (["node:sqlite", "DatabaseSync", "readOnly"] as const)
  // Looked up when it is used: a static import would fail in Node before 22.13, and bundlers know neither module.
  const library = process.getBuiltinModule?.(module) as Library | undefined
  const Database = library?.[name]
  if (Database !== undefined)
    return (path) => (mode === "read" ? new Database(path, { [option]: true }) : new Database(path))
  throw new StorageError(
    "unsupported",
    'This runtime has no SQLite: use Node 22.13 or newer, Deno or Bun, or pass `open: (path) => new Database(path)` of "better-sqlite3".',
  )
}

/** Bytes as a value. Node 22.13 and 22.14 store NULL for an array without memory, such as the empty one of `TextEncoder`. */
export function toBlob(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? EMPTY : bytes
}

const EMPTY = new Uint8Array(1).subarray(0, 0)

/** Primary result codes, https://sqlite.org/rescode.html. */
export const PERM = 3
export const BUSY = 5
export const LOCKED = 6
export const NOMEM = 7
export const READONLY = 8
export const INTERRUPT = 9
export const IOERR = 10
export const CORRUPT = 11
export const FULL = 13
export const CANTOPEN = 14
export const PROTOCOL = 15
export const TOOBIG = 18
export const NOLFS = 22
export const AUTH = 23
export const NOTADB = 26

/**
 * The names that better-sqlite3 has in `code`, and texts: SQLite's, because Deno gives no number for errors of `exec`, and one of
 * better-sqlite3 itself.
 */
const NAMES: readonly (readonly [code: number, name: string, text: string])[] = [
  [PERM, "SQLITE_PERM", "access permission denied"],
  [BUSY, "SQLITE_BUSY", "database is locked"],
  [LOCKED, "SQLITE_LOCKED", "database table is locked"],
  [NOMEM, "SQLITE_NOMEM", "out of memory"],
  [INTERRUPT, "SQLITE_INTERRUPT", "interrupted"],
  [PROTOCOL, "SQLITE_PROTOCOL", "locking protocol"],
  [NOLFS, "SQLITE_NOLFS", "large file support is disabled"],
  [AUTH, "SQLITE_AUTH", "not authorized"],
  [READONLY, "SQLITE_READONLY", "attempt to write a readonly database"],
  [IOERR, "SQLITE_IOERR", "disk I/O error"],
  [CORRUPT, "SQLITE_CORRUPT", "database disk image is malformed"],
  [FULL, "SQLITE_FULL", "database or disk is full"],
  [CANTOPEN, "SQLITE_CANTOPEN", "unable to open database file"],
  [CANTOPEN, "SQLITE_CANTOPEN", "Cannot open database because the directory does not exist"],
  [TOOBIG, "SQLITE_TOOBIG", "string or blob too big"],
  [NOTADB, "SQLITE_NOTADB", "file is not a database"],
]

/** The primary result code of an error of a driver: Node has it in `errcode`, Bun in `errno`. 0 for other errors. */
export function resultCode(error: unknown): number {
  if (!(error instanceof Error)) return 0
  const { errcode, errno, code, message } = error as Error & { errcode?: unknown; errno?: unknown; code?: unknown }
  const number = errcode ?? errno
  if (typeof number === "number") return number & 0xff
  const found = NAMES.find(([, name, text]) => String(code).startsWith(name) || message.startsWith(text))
  return found?.[0] ?? 0
}
