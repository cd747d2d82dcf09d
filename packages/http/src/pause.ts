/** Waits between two attempts of a client. */

/** Resolves after the time, or as soon as the signal fires. */
export function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener("abort", done)
    if (signal?.aborted === true) done()
  })
}
