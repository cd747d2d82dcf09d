/** Cancels a running summarization when its session is closed. */
import type { CompactableSession } from "../../session/live-types.ts"
import { onAbort } from "../../storage/signals.ts"

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
  const look = (): void => {
    try {
      checkOpen()
    } catch (closed) {
      stop.abort(closed)
    }
  }
  closeListeners.add(look)
  const off = signal === undefined ? undefined : onAbort(signal, () => stop.abort(signal.reason))
  if (signal?.aborted === true) stop.abort(signal.reason)
  try {
    return await work(stop.signal)
  } catch (error) {
    // Closing is not an abort of the caller's: reject with `closed`, not with the error of `work`.
    if (stop.signal.aborted && signal?.aborted !== true) throw stop.signal.reason
    throw error
  } finally {
    closeListeners.delete(look)
    off?.()
  }
}
