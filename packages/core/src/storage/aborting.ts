/** Rejects with the error of `toError` once the signal fires; the work itself goes on. `toError` gets the signal's reason. */
export function rejectOnAbort<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  toError: (reason: unknown) => Error,
): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(toError(signal.reason))
    work.finally(() => signal.removeEventListener("abort", abort)).then(resolve, reject)
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort)
  })
}
