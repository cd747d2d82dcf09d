/** Translates errors of the file system into the codes and messages of `StorageError`. */
import { type Failure, StorageError } from "@sessions/core/storage"
import { FAILURES } from "../failures.ts"

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
  const known = ROWS.get(errno ?? (error instanceof Error ? error.name : ""))
  const code = known?.code ?? "unavailable"
  const advice = known?.act ?? "the system says no more than its code"
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

/** Codes of Windows, while a virus scanner or an indexer holds the file; core's retries follow those of `retryBusy`. */
const HELD_ON_WINDOWS: Failure = {
  when: "EPERM",
  passes: "by itself",
  code: "unavailable",
  act: "another program holds it, or this user may not do that; close that program or repeat the call",
}

const ROWS: ReadonlyMap<string, Failure> = new Map([
  ...FAILURES.map((row) => [row.when, row] as const),
  ...(process.platform === "win32" ? [[HELD_ON_WINDOWS.when, HELD_ON_WINDOWS] as const] : []),
])
