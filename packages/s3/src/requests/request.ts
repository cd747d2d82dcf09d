/** One request, which neither the store's silence nor its answer's can hold up for ever. */
import { StorageError } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"

export interface Attempt {
  /** For the request: fires when it is given up. */
  readonly signal: AbortSignal
  /** The next thing that the request should bring; gives it up when that takes too long or the caller's signal fires. */
  within<T>(promise: Promise<T>): Promise<T>
  /** Gives up what is still under way. */
  end(): void
}

export function startAttempt({ settings, time }: Environment, signal: AbortSignal | undefined): Attempt {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    async within(promise) {
      const waiting = new AbortController()
      const late = time.sleep(settings.requestTimeout, waiting.signal).then(() => {
        if (waiting.signal.aborted) return new Promise<never>(() => undefined)
        throw new ObjectStoreError("network", `no answer within ${settings.requestTimeout} ms`, { certain: false })
      })
      const aborted = new Promise<never>((_, reject) => {
        const abort = (): void => reject(abortedError(signal))
        if (signal?.aborted === true) abort()
        signal?.addEventListener("abort", abort, { signal: waiting.signal })
      })
      try {
        return await Promise.race([promise, late, aborted])
      } catch (error) {
        controller.abort()
        throw error
      } finally {
        waiting.abort()
      }
    },
    end: () => controller.abort(),
  }
}

/** A request whose answer is all that it brings. */
export async function once<T>(
  env: Environment,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const attempt = startAttempt(env, signal)
  return attempt.within(act(attempt.signal))
}

export function abortedError(signal: AbortSignal | undefined): StorageError {
  return new StorageError("aborted", "The call was aborted before anything was sent.", { cause: signal?.reason })
}
