/** The errors of a compaction, and their kinds. */
import { SessionError, hasCode } from "../../format/errors.ts"
import type { CompactionFailureKind } from "../../compaction-settings/types.ts"
import { StorageError } from "../../storage/errors.ts"

/** Why no cut brings a context below a limit in tokens. */
export interface Cause {
  readonly what: "overhead" | "message" | "nothing"
  readonly text: string
  readonly limit: number
}

class CompactionFailure extends SessionError {
  readonly kind: CompactionFailureKind
  /** The rule that keeps the whole context, or the cause that no cut helps. */
  readonly rule: string | undefined

  readonly isOutOfReach: boolean

  constructor(
    session: string,
    kind: CompactionFailureKind,
    why: string,
    o: { cause?: unknown; rule?: string; isOutOfReach?: true } = {},
  ) {
    const { cause, rule } = o
    const message = `The session ${session} was not compacted: ${why}. Nothing was written.`
    super("compaction_failed", message, { session, cause })
    this.kind = kind
    this.rule = rule
    this.isOutOfReach = o.isOutOfReach ?? false
  }
}

export function failedError(session: string, why: string, cause?: unknown): SessionError {
  return new CompactionFailure(session, "failed", why, { cause })
}

export function nothingToCutError(session: string, rule: string, why: string): SessionError {
  return new CompactionFailure(session, "nothing_to_cut", `there is nothing to cut: ${rule} ${why}`, { rule })
}

/** No cut makes the context small enough, so no summary is paid. */
export function outOfReachError(session: string, { what, text, limit }: Cause): SessionError {
  const rule = `${what} ${limit}`
  const why = `it would be due again at once: ${text}`
  return new CompactionFailure(session, "nothing_to_cut", why, { rule, isOutOfReach: true })
}

/** Whether an error says that no cut helps. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof CompactionFailure && error.isOutOfReach
}

/** The rule or the cause of a `nothing_to_cut` error; undefined for any other error. */
export function keepRuleOf(error: unknown): string | undefined {
  return error instanceof CompactionFailure ? error.rule : undefined
}

export function movedError(session: string, cause?: unknown): SessionError {
  const why = "moved: another branch, compaction, edit or deletion changed the session while the summary was made"
  return new CompactionFailure(session, "moved", why, { cause })
}

export function abortedError(session: string, signal: AbortSignal): StorageError {
  const message = `The compaction of ${session} was aborted. Nothing was written.`
  return new StorageError("aborted", message, { session, cause: signal.reason })
}

export function invalidError(session: string, message: string): SessionError {
  return new SessionError("invalid", message, { session })
}

/** The kind of an error that was thrown by a compaction. */
export function kindOf(error: unknown): CompactionFailureKind {
  if (error instanceof CompactionFailure) return error.kind
  return hasCode(error, "aborted") || hasCode(error, "closed") ? "stopped" : "failed"
}
