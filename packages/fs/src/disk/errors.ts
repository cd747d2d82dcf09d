/** Translates errors of the file system into the codes and messages of `StorageError`. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"

export interface Place {
  /** Missing if the thrower does not know it; the caller adds it. */
  readonly storage?: string
  readonly session?: string
  readonly at?: string
}

/**
 * A `StorageError` is completed with the location that its thrower did not know. An error of the file system gets the code it means
 * to a caller and a sentence that says what to do.
 */
export function toStorageError(error: unknown, what: string, place: Place): StorageError {
  if (error instanceof StorageError) return error.storage === undefined ? placed(error, place) : error
  const errno = errnoOf(error)
  // A permission that Deno refuses has a name but no code.
  const known = MEANINGS[errno ?? (error instanceof Error ? error.name : "")]
  const code: StorageErrorCode = known?.code ?? "unavailable"
  const advice = known?.advice ?? "the system says no more than its code"
  const message = `Could not ${what} at ${place.at ?? place.storage ?? "its place"} (${errno ?? String(error)}): ${advice}.`
  return new StorageError(code, message, { ...place, cause: error })
}

function placed(error: StorageError, place: Place): StorageError {
  const { code, message, session, at, sent, cause } = error
  return new StorageError(code, message, {
    ...place,
    ...(session === undefined ? {} : { session }),
    ...(at === undefined ? {} : { at }),
    ...(sent === undefined ? {} : { sent }),
    cause: cause ?? error,
  })
}

export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" ? code : undefined
}

/** Whether a file or folder, or one above it, does not exist. */
export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === "ENOENT" || errno === "ENOTDIR"
}

/** Whether the path is no regular file: a link, a socket, or nothing. */
export function isNoFile(error: unknown): boolean {
  const errno = errnoOf(error)
  return isMissing(error) || errno === "ELOOP" || errno === "ENXIO"
}

const MEANINGS: Readonly<Record<string, { readonly code: StorageErrorCode; readonly advice: string }>> = {
  ENOSPC: { code: "quota", advice: "the disk is full; make room and repeat the call" },
  EDQUOT: { code: "quota", advice: "the user's disk quota is used up; make room and repeat the call" },
  EFBIG: { code: "quota", advice: "the file may not grow further here; lower maxPartBytes or raise the limit" },
  EACCES: { code: "unavailable", advice: "this user may not do that; give it the right to read and write the folder" },
  EPERM: { code: "unavailable", advice: "this user may not do that; give it the right to read and write the folder" },
  EROFS: {
    code: "unavailable",
    advice: "the file system is mounted read-only; mount it for writing or choose another root",
  },
  EMFILE: { code: "unavailable", advice: "this process has too many files open; close some or raise its limit" },
  ENFILE: { code: "unavailable", advice: "the system has too many files open; close some or raise its limit" },
  EIO: { code: "unavailable", advice: "the disk failed to do it; look at the system's log before trusting this disk" },
  ENOENT: {
    code: "unavailable",
    advice: "the folder is gone, or cannot be made there; look at the path, then repeat the call",
  },
  ENOTDIR: {
    code: "unavailable",
    advice: "a file stands where a folder should be; move it away or choose another root",
  },
  EISDIR: { code: "unavailable", advice: "a folder stands where a file should be; move it away" },
  ELOOP: { code: "unavailable", advice: "a symbolic link stands there, and links are not followed; remove it" },
  NotCapable: {
    code: "unavailable",
    advice: "Deno was started without that permission; the documentation lists those needed",
  },
  EEXIST: {
    code: "unavailable",
    advice: "something of that name stands in the way; move it away, then repeat the call",
  },
  ERR_STRING_TOO_LONG: {
    code: "corrupt",
    advice: "a line there is longer than any text of this runtime; it is left as it is",
  },
  ERR_FS_FILE_TOO_LARGE: {
    code: "corrupt",
    advice: "no file that belongs there is so large; look at it, and move it away",
  },
  EBUSY: { code: "unavailable", advice: "another program holds it; close that program or repeat the call" },
}
