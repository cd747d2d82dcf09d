/** Abort signals of calls: passed on, checked before a write is sent, and raced against running work. */
import type { CallOptions } from "./contract.ts"
import { StorageError } from "./errors.ts"

/** Only the signal of the options, to pass on. */
export function signalOf({ signal }: CallOptions): CallOptions {
  return signal === undefined ? {} : { signal }
}

/** Throws `aborted` if the signal has fired. Called before a write is sent, so nothing of it is stored. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new StorageError("aborted", "The call was aborted before anything was sent.", { cause: signal.reason })
  }
}

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
