/** The error of the session client. */

/** A call that the server has refused, or that got no answer of the session API. `hasCode` of `@sessions/core` works on it. */
export class SessionApiError extends Error {
  /**
   * The code of the answer: one of `@sessions/core`, or `too_many_prompts`, `failed` …; `misconfigured` for a 401 or 403 by which the host
   * refuses the credentials or what they allow, unless its answer has a code. Without an answer of the session API:
   * `indeterminate` if the call may have changed something, else `unavailable` if a later one may be answered, else `failed`. `aborted` if
   * its signal has fired.
   */
  readonly code: string
  /** Of the answer, whoever sent it; undefined if there was none. */
  readonly status: number | undefined

  constructor(code: string, message: string, o: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, o.cause === undefined ? undefined : { cause: o.cause })
    this.name = "SessionApiError"
    this.code = code
    this.status = o.status
  }
}
