/** Waits between two attempts. */

/** Resolves after the time, or as soon as the signal fires. `keepsAlive`: whether a process waits for it before it ends; default true. */
export function pauseFor(
  ms: number,
  signal: AbortSignal | undefined,
  { keepsAlive = true }: { readonly keepsAlive?: boolean } = {},
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (!keepsAlive) (timer as { unref?: () => void }).unref?.()
    signal?.addEventListener("abort", done)
    if (signal?.aborted === true) done()
  })
}
