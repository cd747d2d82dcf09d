/** Limits of time of a request. There is none on the whole: a line may be slow. */

export interface TimeLimit {
  /** Fires when the time is over, or the caller's signal does. */
  readonly signal: AbortSignal
  /** Something has arrived: the time begins anew. */
  readonly alive: () => void
  /** Settles as `work`, or rejects when `signal` fires: a body need not notice that. In Node 22 one does not whose compression is damaged. */
  readonly within: <T>(work: Promise<T>) => Promise<T>
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
  const signal = outer ? AbortSignal.any([outer, limit.signal]) : limit.signal
  let stop = (): void => undefined
  const over = new Promise<never>((_, reject) => (stop = () => reject(signal.reason as Error)))
  over.catch(() => undefined)
  signal.addEventListener("abort", stop)
  if (signal.aborted) stop()
  return {
    signal,
    alive: () => start(timeout, "Nothing more arrived for"),
    within: (work) => Promise.race([work, over]),
    end() {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
    },
  }
}

export function isTimeout(timeout: unknown): boolean {
  return Number.isSafeInteger(timeout) && (timeout as number) > 0
}
