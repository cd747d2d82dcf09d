/** Why a session was not compacted. */
import { SessionError, hasCode } from "../../format/errors.ts"
import type { CompactionFailureKind } from "../types.ts"
import { StorageError } from "../../storage/errors.ts"

class CompactionFailure extends SessionError {
  readonly kind: CompactionFailureKind
  /** The rule that keeps all there is. */
  readonly rule: string | undefined

  constructor(session: string, kind: CompactionFailureKind, why: string, o: { cause?: unknown; rule?: string } = {}) {
    const { cause, rule } = o
    super("compaction_failed", `The session ${session} was not compacted: ${why}. Nothing was written.`, {
      session,
      cause,
    })
    this.kind = kind
    this.rule = rule
  }
}

export function failed(session: string, why: string, cause?: unknown): SessionError {
  return new CompactionFailure(session, "failed", why, { cause })
}

export function nothingToCut(session: string, rule: string, why: string): SessionError {
  return new CompactionFailure(session, "nothing_to_cut", `there is nothing to cut: ${rule} ${why}`, { rule })
}

/** The rule by which nothing could be cut; undefined where that is not what was thrown. */
export function keepRuleOf(error: unknown): string | undefined {
  return error instanceof CompactionFailure ? error.rule : undefined
}

export function moved(session: string, cause?: unknown): SessionError {
  return new CompactionFailure(session, "moved", "moved: the session went on elsewhere while its summary was made", {
    cause,
  })
}

export function aborted(session: string, signal: AbortSignal): StorageError {
  const message = `The compaction of ${session} was aborted. Nothing was written.`
  return new StorageError("aborted", message, { session, cause: signal.reason })
}

/** Of whatever was thrown while a session was compacted. */
export function kindOf(error: unknown): CompactionFailureKind {
  if (error instanceof CompactionFailure) return error.kind
  return hasCode(error, "aborted") || hasCode(error, "closed") ? "stopped" : "failed"
}
