/** The clock of leases: monotonic, so that no change of the time of day moves it. */

export function now(): number {
  return performance.now()
}

/** Resolves after this many milliseconds, or when the signal fires. Keeps no process alive. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    ;(timer as { unref?: () => void }).unref?.()
    signal.addEventListener("abort", done)
    if (signal.aborted) done()
  })
}
