/** Cancels a running summarization when its session is closed. */
import type { CompactableSession } from "../../session/live.ts"

/**
 * Runs `work` with a signal that fires if the caller's signal fires or the caller's handle is closed. Rejects with `closed` if the handle
 * was closed. `checkOpen` throws if it is closed.
 */
export async function whileOpen<T>(
  { closeListeners }: CompactableSession,
  checkOpen: () => unknown,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const giveUp = (): void => stop.abort(signal?.reason)
  const look = (): void => {
    try {
      checkOpen()
    } catch (closed) {
      stop.abort(closed)
    }
  }
  closeListeners.add(look)
  signal?.addEventListener("abort", giveUp, { once: true })
  if (signal?.aborted === true) giveUp()
  try {
    return await work(stop.signal)
  } catch (error) {
    // Closing is not an abort of the caller's: reject with `closed`, not with the error of `work`.
    if (stop.signal.aborted && signal?.aborted !== true) throw stop.signal.reason
    throw error
  } finally {
    closeListeners.delete(look)
    signal?.removeEventListener("abort", giveUp)
  }
}
