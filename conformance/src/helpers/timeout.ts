/** A time limit for asynchronous work. */

/** The default limit of a case, or of one input of a property. It only ends a hang: a busy machine needs many times what an idle one does. */
export const TIME_LIMIT_MS = 120_000

/** Thrown by {@link withTimeout} only. */
export class TimeoutError extends Error {
  constructor(limit: number) {
    super(`did not end within ${limit} ms`)
    this.name = "TimeoutError"
  }
}

/**
 * Settles as the work does, or rejects with {@link TimeoutError} after `limit` milliseconds. A result or a rejection that comes
 * later is ignored.
 */
export async function withTimeout<T>(limit: number, work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(limit)), limit)
  })
  try {
    return await Promise.race([work(), timeout])
  } finally {
    clearTimeout(timer)
  }
}
