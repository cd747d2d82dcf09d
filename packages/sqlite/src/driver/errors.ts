/** Turns the errors of SQLite into storage errors that say what to do. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { BUSY, CANTOPEN, CORRUPT, FULL, IOERR, LOCKED, NOTADB, READONLY, resultCode, TOOBIG } from "./library.ts"

const MEANINGS: { readonly [result: number]: readonly [StorageErrorCode, advice: string] } = {
  [READONLY]: ["unavailable", "The file, its folder or the disk is read-only. Give this process the right to write"],
  [IOERR]: ["unavailable", "The disk reported an error. Check the disk, then repeat the call"],
  [CORRUPT]: [
    "corrupt",
    "The file is damaged. Restore it from a backup, or save what is left with `sqlite3 FILE .recover`",
  ],
  [FULL]: ["quota", "The disk is full. Free some space, then repeat the call"],
  [CANTOPEN]: [
    "unavailable",
    "The file cannot be opened. Is its folder there, on a local disk, and may this process write in it? SQLite writes beside the file even to read it",
  ],
  [TOOBIG]: ["invalid", "SQLite cannot store a value of this size"],
  [NOTADB]: ["corrupt", "The file is no SQLite database, or it is encrypted. Choose another path"],
}

/** Other errors are returned as they are. `waited`: the milliseconds that a call has waited for the lock, if it was locked. */
export function toStorageError(cause: unknown, path: string, waited: number): unknown {
  const code = resultCode(cause)
  if (code === BUSY || code === LOCKED) {
    return new StorageError(
      "unavailable",
      `Another connection has locked ${path} for ${waited} ms. Nothing was written: repeat the call. If this stays, look for a program that keeps a transaction open.`,
      { cause },
    )
  }
  const meaning = MEANINGS[code]
  if (meaning === undefined) return cause
  const [meant, advice] = meaning
  return new StorageError(meant, `${advice} (${path}; SQLite reported: ${(cause as Error).message}).`, { cause })
}
