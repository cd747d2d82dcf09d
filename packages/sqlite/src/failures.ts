/**
 * The failures of SQLite, by primary result code (https://sqlite.org/rescode.html): whether each passes, and what to do. The code and the
 * sentence of an error follow from its row, and so does its row in `docs/errors.md`.
 */
import type { Failure } from "@sessions/core/storage"
import {
  AUTH,
  BUSY,
  CANTOPEN,
  CORRUPT,
  FULL,
  INTERRUPT,
  IOERR,
  LOCKED,
  NOLFS,
  NOMEM,
  NOTADB,
  PERM,
  PROTOCOL,
  READONLY,
  TOOBIG,
} from "./driver/library.ts"

interface SqliteFailure extends Failure {
  /** Missing for a failure of the file system itself, at the folder of a file. */
  readonly result?: number
}

const LOCK_HELD =
  "another connection has locked the file. Nothing was written: repeat the call. If this stays, look for a program that keeps a transaction open"
const RIGHT = "the library may not do that. Give this process the right to read and write the file and its folder"

export const FAILURES: readonly SqliteFailure[] = [
  { when: "SQLITE_BUSY", result: BUSY, passes: "by itself", code: "unavailable", act: LOCK_HELD },
  { when: "SQLITE_LOCKED", result: LOCKED, passes: "by itself", code: "unavailable", act: LOCK_HELD },
  { when: "SQLITE_PROTOCOL", result: PROTOCOL, passes: "by itself", code: "unavailable", act: LOCK_HELD },
  {
    when: "SQLITE_NOMEM",
    result: NOMEM,
    passes: "by itself",
    code: "unavailable",
    act: "there is no memory left. Repeat the call",
  },
  {
    when: "SQLITE_INTERRUPT",
    result: INTERRUPT,
    passes: "by itself",
    code: "unavailable",
    act: "the statement was interrupted. Repeat the call",
  },
  {
    when: "SQLITE_IOERR",
    result: IOERR,
    passes: "by itself",
    code: "unavailable",
    act: "the disk reported an error. Repeat the call, and if this stays, check the disk",
  },
  { when: "SQLITE_FULL", result: FULL, passes: "after", code: "quota", act: "the disk is full. Free some space" },
  {
    when: "SQLITE_READONLY",
    result: READONLY,
    passes: "after",
    code: "misconfigured",
    act: "the file, its folder or the disk is read-only. Give this process the right to write",
  },
  {
    when: "SQLITE_CANTOPEN",
    result: CANTOPEN,
    passes: "after",
    code: "misconfigured",
    act: "the file cannot be opened. Is its folder there, on a local disk with an inode left, and may this process write in it? SQLite writes beside the file even to read it",
  },
  { when: "SQLITE_PERM", result: PERM, passes: "after", code: "misconfigured", act: RIGHT },
  { when: "SQLITE_AUTH", result: AUTH, passes: "after", code: "misconfigured", act: RIGHT },
  {
    when: "SQLITE_CORRUPT",
    result: CORRUPT,
    passes: "never",
    code: "corrupt",
    act: "the file is damaged. Restore it from a backup, or save what is left with `sqlite3 FILE .recover`",
  },
  {
    when: "SQLITE_NOTADB",
    result: NOTADB,
    passes: "never",
    code: "corrupt",
    act: "the file is no SQLite database, or it is encrypted. Choose another path",
  },
  {
    when: "SQLITE_TOOBIG",
    result: TOOBIG,
    passes: "never",
    code: "invalid",
    act: "SQLite cannot store a value of this size",
  },
  {
    when: "SQLITE_NOLFS",
    result: NOLFS,
    passes: "never",
    code: "unsupported",
    act: "this system has no files of this size. Choose another disk",
  },
  // Of the folder.
  ...["EMFILE", "ENFILE", "EBUSY", "EIO"].map(
    (when): SqliteFailure => ({
      when,
      passes: "by itself",
      code: "unavailable",
      act: "the system could not look at the folder. Repeat the call",
    }),
  ),
  ...["ENOSPC", "EDQUOT"].map(
    (when): SqliteFailure => ({ when, passes: "after", code: "quota", act: "the disk is full. Free some space" }),
  ),
  ...["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG"].map(
    (when): SqliteFailure => ({
      when,
      passes: "after",
      code: "misconfigured",
      act: "the folder cannot be used. Choose one that this process may make and write in",
    }),
  ),
]
