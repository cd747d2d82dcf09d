/** Converts errors of IndexedDB to errors of the storage contract. */
import { StorageError } from "@sessions/core/storage"
import { FAILURES } from "./failures.ts"

/** How messages name a database. */
export interface DatabaseName {
  /** Name and database, as in `indexeddb:my-agent`. */
  readonly description: string
  /** A storage that works where the browser stores nothing. */
  readonly instead: string
}

/** The error of an operation. `doing` completes "Could not …" before the description; undefined: the database could not be opened. */
export function toStorageError(error: unknown, { description, instead }: DatabaseName, doing?: string): StorageError {
  if (error instanceof StorageError) return error
  const text = String(error).replace(/\.$/, "")
  const row = FAILURES.find(({ when, opening }) => !(opening && doing) && when.test(text))
  const message = `Could not ${doing ?? "open"} ${description} (${text}): ${row?.act.replace("{instead}", instead)}.`
  return new StorageError(row?.code ?? "unavailable", message, { storage: description, cause: error })
}

/**
 * Whether a transaction ended because its connection is gone; then it is unknown whether it was committed, once it was asked to. (Chromium
 * and Firefox: the process of the database died or the site's data was cleared; WebKit: "Connection to Indexed Database server lost".)
 */
export function isLost(error: unknown): boolean {
  return /^(Abort|Unknown|InvalidState|TransactionInactive)Error/.test(nameOf(error))
}

/**
 * Whether a new connection may help. One that refuses a request is still there: Firefox gives a transaction that takes no new data after one
 * that found the site full, and opening the database again may need space.
 */
export function isGone(error: unknown): boolean {
  return /^(Abort|Unknown|Timeout)Error/.test(nameOf(error))
}

/** The error of a write that may have been done, and may have been undone or replaced by another writer since. */
export function unknownOutcomeError(cause?: unknown): StorageError {
  const message = "The connection was lost: look whether the write was done before you repeat it."
  return new StorageError("indeterminate", message, { cause })
}

export function isQuota(error: unknown): boolean {
  return nameOf(error) === "QuotaExceededError"
}

export function timeout(message: string): DOMException {
  return new DOMException(message, "TimeoutError")
}

/** A row that this program did not write so. `at` names it. */
export function corruptError(what: string, location: { readonly session?: string; readonly at: string }): StorageError {
  return new StorageError(
    "corrupt",
    `${what}: another program wrote to this database. Export what can still be read, then delete it.`,
    location,
  )
}

function nameOf(error: unknown): string {
  return String((error as Partial<Error> | null | undefined)?.name)
}
