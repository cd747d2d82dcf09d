/** Limits of time of a request. There is none on the whole: a line may be slow. */

export interface TimeLimit {
  /** Fires when the time is over, or the caller's signal does. */
  readonly signal: AbortSignal
  /** Something has arrived: the time begins anew. */
  readonly alive: () => void
  readonly end: () => void
}

/** Milliseconds without an answer, or without more of one, after which a request has failed. */
export const DEFAULT_TIMEOUT = 60_000

/** `fetch` does not tell how much of a body was sent, so a body has more time by its length: as if each line had half a megabit a second. */
const LEAST_BYTES_PER_MS = 64

/** Limits the wait for the answer to a request with a body of `bytes`, and then each pause in it. */
export function startTimeLimit(timeout: number, bytes: number, outer: AbortSignal | null | undefined): TimeLimit {
  const limit = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const start = (ms: number, what: string): void => {
    clearTimeout(timer)
    timer = setTimeout(() => limit.abort(new Error(`${what} ${ms} ms.`)), ms)
  }
  start(timeout + Math.ceil(bytes / LEAST_BYTES_PER_MS), "There was no answer within")
  return {
    signal: outer ? AbortSignal.any([outer, limit.signal]) : limit.signal,
    alive: () => start(timeout, "Nothing more arrived for"),
    end: () => clearTimeout(timer),
  }
}

export function isTimeout(timeout: unknown): boolean {
  return Number.isSafeInteger(timeout) && (timeout as number) > 0
}
