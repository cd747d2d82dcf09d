/** One request with a timeout, which the caller's signal can abort. */
import { onAbort, StorageError } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"

export interface TimedRequest {
  /** Fires when the request is cancelled; to be passed to the store. */
  readonly signal: AbortSignal
  /** Awaits the answer or the next part of its body. Cancels the request after the timeout or when the caller aborts. */
  receive<T>(promise: Promise<T>): Promise<T>
  cancel(): void
}

export function startRequest(
  { settings, time }: Deps,
  signal: AbortSignal | undefined,
  timeoutMs: number = settings.requestTimeout,
): TimedRequest {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    async receive(promise) {
      const done = new AbortController()
      let off = (): void => undefined
      const timeout = time.sleep(timeoutMs, done.signal).then(() => {
        if (done.signal.aborted) return new Promise<never>(() => undefined)
        throw new ObjectStoreError("network", `no answer within ${Math.round(timeoutMs)} ms, by \`requestTimeout\``, {
          certain: false,
        })
      })
      const aborted = new Promise<never>((_, reject) => {
        const abort = (): void => reject(abortedError(signal))
        if (signal === undefined) return
        off = onAbort(signal, abort)
        if (signal.aborted) abort()
      })
      try {
        return await Promise.race([promise, timeout, aborted])
      } catch (error) {
        controller.abort()
        throw error
      } finally {
        off()
        done.abort()
      }
    },
    cancel: () => controller.abort(),
  }
}

/** Sends a request whose answer has no body to read. */
export async function sendOnce<T>(
  deps: Deps,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  const request = startRequest(deps, signal, timeoutMs)
  return request.receive(send(request.signal))
}

export function abortedError(signal: AbortSignal | undefined): StorageError {
  return new StorageError("aborted", "The call was aborted before anything was sent.", { cause: signal?.reason })
}
