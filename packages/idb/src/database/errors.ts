/** What an error of IndexedDB means to a caller of the storage. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"

/** What an error of IndexedDB means, with a sentence that says what to do. */
export function toStorageError(error: unknown, what: string, storage: string): StorageError {
  const { code, advice } = MEANINGS[nameOf(error)] ?? OTHERWISE
  return new StorageError(code, `Could not ${what} in ${storage} (${described(error)}): ${advice}.`, { cause: error })
}

/** A database that cannot be opened, where the reasons are others than for one that is open. */
export function toOpenError(error: unknown, storage: string): StorageError {
  const { code, advice } = OPENING[nameOf(error)] ?? MEANINGS[nameOf(error)] ?? OTHERWISE
  return new StorageError(code, `Could not open ${storage} (${described(error)}): ${advice}.`, {
    storage,
    cause: error,
  })
}

/**
 * Whether a transaction ended for a reason that lies outside of it: its connection is gone. Then nobody knows whether it was
 * committed. (Chromium and Firefox: the database's process died or the site's data was cleared; WebKit: "Connection to Indexed
 * Database server lost".)
 */
export function isLost(error: unknown): boolean {
  return !(error instanceof StorageError) && LOST.has(nameOf(error))
}

export function isQuota(error: unknown): boolean {
  return nameOf(error) === "QuotaExceededError"
}

export function corrupt(what: string, place: { readonly session?: string; readonly at: string }): StorageError {
  return new StorageError(
    "corrupt",
    `${what}; somebody else wrote to this database. Nothing was changed: export what can still be read, then delete it.`,
    place,
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
  advice: "the browser says no more; repeat the call, or reload the page",
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  QuotaExceededError: {
    code: "quota",
    advice: "this site's share of the disk is used up; delete sessions or free space on the disk, then repeat the call",
  },
  AbortError: {
    code: "unavailable",
    advice: "the browser took the connection away and nothing was written; repeat the call",
  },
}

const DISABLED: Meaning = {
  code: "unsupported",
  advice:
    "the browser lets this page keep nothing; allow this site to store data (cookies and site data in the settings), " +
    "open it outside of a sandboxed frame, or use a storage in memory",
}

const OPENING: Readonly<Record<string, Meaning>> = {
  VersionError: {
    code: "unsupported",
    advice: "a newer version of this program has made the database; reload the page to get that version",
  },
  SecurityError: DISABLED,
  NotAllowedError: DISABLED,
  // Firefox, where the user keeps no site data.
  InvalidStateError: DISABLED,
}
