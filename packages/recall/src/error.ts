/** The errors of this package. Wrong arguments are a `SessionError`, and errors of the storage are passed on. */

/**
 * - `extraction_failed`: the model failed, gave no answer in time, or one without a whole JSON array. No fact of that answer was written.
 * - `consolidation_failed`: the agent failed, or the memory files break a rule after its last phase. The time of the last consolidation is
 *   unchanged.
 * - `lock_lost`: another process took over the lock of a consolidation. Nothing was written after that.
 */
export type RecallErrorCode = "extraction_failed" | "consolidation_failed" | "lock_lost"

export class RecallError extends Error {
  readonly code: RecallErrorCode

  constructor(code: RecallErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "RecallError"
    this.code = code
  }
}
