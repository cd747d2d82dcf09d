/** Turns the errors of SQLite into storage errors that say what to do. */
import { StorageError } from "@sessions/core/storage"
import { FAILURES } from "../failures.ts"
import { BUSY, LOCKED, resultCode } from "./library.ts"

const ROWS = new Map(FAILURES.flatMap((row) => (row.result === undefined ? [] : [[row.result, row] as const])))
const BY_ERRNO = new Map(FAILURES.flatMap((row) => (row.result === undefined ? [[row.when, row] as const] : [])))

/** Other errors are returned as they are. `waited`: the milliseconds that a call has waited for the lock, if it was locked. */
export function toStorageError(cause: unknown, path: string, waited: number): unknown {
  const result = resultCode(cause)
  const row = ROWS.get(result)
  if (row === undefined) return cause
  const { code, act } = row
  const sentence = act.charAt(0).toUpperCase() + act.slice(1)
  const isHeld = result === BUSY || result === LOCKED
  const said = isHeld ? sentence.replace("the file", `${path} for ${waited} ms`) : sentence
  return new StorageError(code, `${said} (${path}; SQLite reported: ${(cause as Error).message}).`, { cause })
}

/** An error of the file system at the folder of a file. `what` completes the sentence "… cannot be used". */
export function toFolderError(cause: unknown, what: string): StorageError {
  const { code: errno, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  const row = BY_ERRNO.get(String(errno))
  const said = row === undefined ? "" : ` ${row.act.charAt(0).toUpperCase()}${row.act.slice(1)}.`
  return new StorageError(row?.code ?? "unavailable", `${what} cannot be used: ${String(message)}.${said}`, { cause })
}
