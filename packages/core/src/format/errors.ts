/**
 * The errors of core. Programs distinguish them by `code`; errors of the storage (`StorageErrorCode`) are passed on unchanged.
 * `docs/errors.md` has a section for each.
 *
 * | code | HTTP status | when |
 * |---|---|---|
 * | `invalid` | 400 | an argument or an entry is wrong |
 * | `not_found` | 404 | no such session, entry or pointer |
 * | `exists` | 409 | the id of a session is taken, or that of an entry by one with other content; never retried |
 * | `conflict` | 409 | another writer appended first, and the caller chose to fail (`onConflict`) |
 * | `too_large` | 413 | an entry, a line, a batch or the session would exceed its limit; nothing was written |
 * | `not_a_session` | 422 | the text is not a session log |
 * | `newer_version` | 422 | a newer program wrote the log, so it is open for reading only |
 * | `older_version` | 422 | the log is of an older version, and `createSessions` was given no reader for it |
 * | `read_only` | 403 | the log is of an older version, and the options or the storage do not allow its migration |
 * | `closed` | 409 | the session or the repository was closed |
 * | `compaction_failed` | 502 | the session was not compacted, and nothing was written; the message says why |
 * | `no_room` | 413 | a provider refuses the context, and nothing is left that makes it smaller; the message has the figures and the way out |
 */
import { CodedError, codeOf, type ErrorDetails, type StorageErrorCode } from "../storage/errors.ts"
import type { Entry } from "./entry.ts"

export type SessionErrorCode =
  | "invalid"
  | "not_found"
  | "exists"
  | "conflict"
  | "too_large"
  | "not_a_session"
  | "newer_version"
  | "older_version"
  | "read_only"
  | "closed"
  | "compaction_failed"
  | "no_room"

/** Every code that a call of core can reject with. */
export type ErrorCode = SessionErrorCode | StorageErrorCode

const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  not_found: 404,
  exists: 409,
  conflict: 409,
  too_large: 413,
  not_a_session: 422,
  newer_version: 422,
  older_version: 422,
  read_only: 403,
  closed: 409,
  compaction_failed: 502,
  no_room: 413,
  indeterminate: 503,
  unsupported: 501,
  corrupt: 500,
  quota: 507,
  unavailable: 503,
  misconfigured: 500,
  aborted: 499,
}

export interface SessionErrorDetails extends ErrorDetails {
  readonly sent?: boolean
  readonly lost?: readonly Entry[]
  readonly leaseLost?: boolean
}

/** An error of core. `docs/errors.md` in this package has the meaning and the way out of each code. */
export class SessionError extends CodedError<SessionErrorCode> {
  /**
   * With `conflict` only if the log has lost lines, such as by an older copy that was put back, and with the `not_found` of an open session:
   * the entries that this session had appended and that are gone, as memory has them, in their order. It may be empty.
   */
  readonly lost?: readonly Entry[]
  /**
   * Only with `exists`, and only true: another writer has taken the id of an entry while a part of the append was in the log already, which
   * stays there. Only storages whose `atomicBatch` is `prefix` store parts.
   */
  readonly sent?: boolean
  /**
   * Only with `conflict`, and only true: the call belongs to a turn that has lost its lease. No other writer was faster; nothing more of the turn is
   * written, so a repeated call is refused again.
   */
  readonly leaseLost?: boolean

  constructor(code: SessionErrorCode, message: string, details: SessionErrorDetails = {}) {
    super(code, message, details)
    this.name = "SessionError"
    if (details.lost !== undefined) this.lost = details.lost
    if (details.sent === true) this.sent = true
    if (details.leaseLost === true) this.leaseLost = true
  }
}

/** Whether a thrown value is an error of core or of a storage with this code. */
export function hasCode<C extends ErrorCode>(error: unknown, code: C): error is Error & { readonly code: C } {
  return codeOf(error) === code
}

/** The HTTP status that fits an error of core or of a storage; 500 for anything else. */
export function httpStatus(error: unknown): number {
  const code = codeOf(error)
  return typeof code === "string" && Object.hasOwn(STATUS, code) ? STATUS[code as ErrorCode] : 500
}
