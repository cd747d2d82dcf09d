/**
 * What a storage says when it cannot do what it was asked. Told apart by `code`, never by class, so that errors survive bundles
 * that hold this file twice.
 *
 * - `conflict`: the log is not where the caller thought; nothing was written. The adapter has looked for its own lines first.
 * - `indeterminate`: the write may have happened, or may still happen. The only code that leaves this open.
 * - `invalid`: the arguments are wrong, whatever the state of the store.
 * - `unsupported`: this storage cannot do it; see its capabilities.
 * - `closed`: the storage was disposed of.
 * - `corrupt`: what is stored cannot be what was written (bytes that are not UTF-8, a missing part). Nothing is rewritten.
 * - `quota`: no room. Works again as soon as there is.
 * - `unavailable`: out of reach or busy for now; the same call may succeed later.
 * - `aborted`: the caller's signal; with `sent: true` the write had gone out and settles by itself.
 */
export type StorageErrorCode =
  | "conflict"
  | "indeterminate"
  | "invalid"
  | "unsupported"
  | "closed"
  | "corrupt"
  | "quota"
  | "unavailable"
  | "aborted"

export interface StorageErrorDetails {
  /** The adapter and its place, e.g. `fs:/srv/agent/.sessions`. */
  readonly storage?: string
  readonly session?: string
  /** The path, key or row. */
  readonly at?: string
  /** With `aborted`: the write had already been sent. */
  readonly sent?: boolean
  readonly cause?: unknown
}

export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly storage?: string
  readonly session?: string
  readonly at?: string
  readonly sent?: boolean

  constructor(code: StorageErrorCode, message: string, details: StorageErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = "StorageError"
    this.code = code
    if (details.storage !== undefined) this.storage = details.storage
    if (details.session !== undefined) this.session = details.session
    if (details.at !== undefined) this.at = details.at
    if (details.sent !== undefined) this.sent = details.sent
  }
}

/** Whether a thrown value is an error of a storage with this code. */
export function hasStorageCode<C extends StorageErrorCode>(
  error: unknown,
  code: C,
): error is Error & { readonly code: C } {
  return error instanceof Error && (error as { code?: unknown }).code === code
}
