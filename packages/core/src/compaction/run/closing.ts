/** What a summarizer works on for nobody any more is ended. */
import type { CallOptions } from "../../storage/contract.ts"
import type { CompactableSession } from "../../session/live.ts"

/**
 * Gives the work a signal that fires with the caller's, and as soon as the handle that asked is closed; then it rejects with `closed`.
 */
export async function whileOpen<T>(
  { closeListeners }: CompactableSession,
  checkOpen: () => unknown,
  { signal }: CallOptions,
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
    const done = await work(stop.signal)
    return done
  } catch (error) {
    // Whoever closed it did not abort it.
    if (stop.signal.aborted && signal?.aborted !== true) throw stop.signal.reason
    throw error
  } finally {
    closeListeners.delete(look)
    signal?.removeEventListener("abort", giveUp)
  }
}
