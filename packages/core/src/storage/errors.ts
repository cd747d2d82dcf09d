import { isError } from "./realm.ts"

/**
 * The errors of a storage. Compare the `code`, never the class: a bundle may contain this file twice.
 *
 * - `conflict`: the log is not at the expected head; nothing was written. The adapter has looked for its own lines first.
 * - `indeterminate`: the write may have happened, or may still happen. The only code that leaves this open.
 * - `invalid`: the arguments are wrong, whatever the state of the store.
 * - `too_large`: what is on the way to the store takes no request of this size, or a document is nested too deeply; nothing was written. Less at
 *   once may pass.
 * - `unsupported`: this storage cannot do it; see its capabilities.
 * - `closed`: the storage was disposed of.
 * - `corrupt`: the stored data is damaged (bytes that are not UTF-8, a missing part). Nothing is rewritten.
 * - `quota`: no space left. Works again as soon as there is some.
 * - `unavailable`: not reachable or busy for now; the same call may succeed later.
 * - `misconfigured`: the store refuses this program: credentials, rights, the name of a bucket or database, a setting. Nothing was written,
 *   and no repeat succeeds before somebody changes the set-up.
 * - `aborted`: the caller's signal fired; with `sent: true` the write had been sent and may still succeed.
 */
export type StorageErrorCode =
  | "conflict"
  | "indeterminate"
  | "invalid"
  | "too_large"
  | "unsupported"
  | "closed"
  | "corrupt"
  | "quota"
  | "unavailable"
  | "misconfigured"
  | "aborted"

/**
 * A row of an adapter's table of the failures of its surroundings, in its file `failures.ts`, from which `docs/errors.md` is written. The code
 * follows from `passes`: `unavailable` for what passes by itself, and never for what does not.
 */
export interface Failure {
  /** The code of the surroundings: an errno, an SQLSTATE, a result code, a name. */
  readonly when: string
  /** By itself, so that a repeat may succeed; after an act of somebody; or never, for this call on this store. */
  readonly passes: "by itself" | "after" | "never"
  readonly code: StorageErrorCode
  /** The problem, and what to do: the end of the sentence of the error. */
  readonly act: string
}

export interface ErrorDetails {
  /** The adapter and its location, e.g. `fs:/srv/agent/.sessions`. */
  readonly storage?: string
  readonly session?: string
  /** The path, key or row. */
  readonly at?: string
  readonly cause?: unknown
}

export interface StorageErrorDetails extends ErrorDetails {
  /** With `aborted`: the write had already been sent. */
  readonly sent?: boolean
}

/**
 * The base of `StorageError` and of core's `SessionError`. `docs/errors.md`, which is in the package `@sessions/core`, has a section for
 * each code: what it means, what a crash or a repeat leaves, and the way out, with code.
 */
export abstract class CodedError<Code extends string> extends Error {
  declare readonly code: Code
  declare readonly storage?: string
  declare readonly session?: string
  declare readonly at?: string

  constructor(code: Code, message: string, { storage, session, at, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (storage !== undefined) this.storage = storage
    if (session !== undefined) this.session = session
    if (at !== undefined) this.at = at
  }
}

/** An error of a storage. `docs/errors.md` in `@sessions/core` has the meaning and the way out of each code. */
export class StorageError extends CodedError<StorageErrorCode> {
  declare readonly sent?: boolean

  constructor(code: StorageErrorCode, message: string, details: StorageErrorDetails = {}) {
    super(code, message, details)
    this.name = "StorageError"
    if (details.sent !== undefined) this.sent = details.sent
  }
}

export function invalidError(message: string): StorageError {
  return new StorageError("invalid", message)
}

/** Whether a thrown value is an `Error` with this code. */
export function hasStorageCode<C extends StorageErrorCode>(
  error: unknown,
  code: C,
): error is Error & { readonly code: C } {
  return codeOf(error) === code
}

/** The code of an error of a storage or of core; undefined for other values. */
export function codeOf(error: unknown): unknown {
  return isError(error) ? (error as { code?: unknown }).code : undefined
}
