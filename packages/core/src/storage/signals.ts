/** Abort signals of calls: passed on, checked before a write is sent, and raced against running work. */
import type { CallOptions } from "./contract.ts"
import { invalid, StorageError } from "./errors.ts"
import { shown } from "./options.ts"

/** Only the signal of the options, to pass on. */
export function signalOf({ signal }: CallOptions): CallOptions {
  return signal === undefined ? {} : { signal }
}

/** Throws `aborted` if the signal has fired, and `invalid` if it is none. Called before a write is sent, so nothing of it is stored. */
export function checkSignal(signal: AbortSignal | undefined): void {
  checkIsSignal(signal)
  if (signal?.aborted === true) {
    throw new StorageError("aborted", "The call was aborted before anything was sent.", { cause: signal.reason })
  }
}

/** Throws `invalid` for a value that is no signal. */
export function checkIsSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw invalid(`\`signal\` must be an AbortSignal, not ${shown(signal)}.`)
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
