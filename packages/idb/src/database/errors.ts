/** Converts errors of IndexedDB to errors of the storage contract. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"

/** The error of an operation on an open database. `doing` completes "Could not …". */
export function toStorageError(error: unknown, doing: string, storage: string): StorageError {
  const { code, advice } = MEANINGS[nameOf(error)] ?? OTHERWISE
  return new StorageError(code, `Could not ${doing} in ${storage} (${described(error)}): ${advice}.`, { cause: error })
}

/** The error of opening the database: some names mean something else there. */
export function toOpenError(error: unknown, storage: string): StorageError {
  const { code, advice } = OPENING[nameOf(error)] ?? MEANINGS[nameOf(error)] ?? OTHERWISE
  return new StorageError(code, `Could not open ${storage} (${described(error)}): ${advice}.`, {
    storage,
    cause: error,
  })
}

/**
 * Whether a transaction ended because its connection is gone; then it is unknown whether it was committed. (Chromium and Firefox: the
 * process of the database died or the site's data was cleared; WebKit: "Connection to Indexed Database server lost".)
 */
export function isLost(error: unknown): boolean {
  return !(error instanceof StorageError) && LOST.has(nameOf(error))
}

/** The error of a write that may have been done, and may have been undone or replaced by another writer since. */
export function unknownOutcome(cause?: unknown): StorageError {
  const message = "The connection was lost: look whether the write was done before you repeat it."
  return new StorageError("indeterminate", message, { cause })
}

export function isQuota(error: unknown): boolean {
  return nameOf(error) === "QuotaExceededError"
}

/** A row that this program did not write so. `at` names it. */
export function corrupt(what: string, location: { readonly session?: string; readonly at: string }): StorageError {
  return new StorageError(
    "corrupt",
    `${what}: something else wrote to this database. Nothing was changed: export what can still be read, then delete it.`,
    location,
  )
}

function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : ""
}

function described(error: unknown): string {
  if (!(error instanceof Error || error instanceof DOMException)) return String(error)
  return error.message === "" ? error.name : `${error.name}: ${error.message.replace(/\.$/, "")}`
}

interface Meaning {
  readonly code: StorageErrorCode
  readonly advice: string
}

const LOST: ReadonlySet<string> = new Set([
  "AbortError",
  "UnknownError",
  "InvalidStateError",
  "TransactionInactiveError",
])

const OTHERWISE: Meaning = {
  code: "unavailable",
  advice: "the browser closed the connection, or gives no reason; repeat the call, or reload the page",
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  QuotaExceededError: {
    code: "quota",
    advice: "this site's share of the disk is used up; delete sessions or free space on the disk, then repeat the call",
  },
}

const DISABLED: Meaning = {
  code: "unsupported",
  advice:
    "the browser stores nothing for this page; allow this site to store data (cookies and site data in the settings), " +
    "open it outside of a sandboxed frame, or use a storage in memory",
}

const OPENING: Readonly<Record<string, Meaning>> = {
  VersionError: {
    code: "unsupported",
    advice: "a newer version of this program created the database; reload the page to get that version",
  },
  SecurityError: DISABLED,
  NotAllowedError: DISABLED,
  // Firefox, if the user does not allow site data.
  InvalidStateError: DISABLED,
}
