/** Abort signals of calls: passed on, checked before a write is sent, and raced against running work. */
import type { CallOptions } from "./contract.ts"
import { invalidError, StorageError } from "./errors.ts"
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
    throw invalidError(`\`signal\` must be an AbortSignal, not ${shown(signal)}.`)
}

interface AbortListeners {
  readonly all: Set<() => void>
  readonly end: () => void
}

const listeners = new WeakMap<AbortSignal, AbortListeners>()

/**
 * Calls the listener once when the signal fires, until the returned function is called. A signal gets one listener, however many calls
 * share it: Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let known = listeners.get(signal)
  if (known === undefined) {
    known = listenTo(signal)
    listeners.set(signal, known)
  }
  const { all, end } = known
  all.add(listener)
  return () => {
    if (all.delete(listener) && all.size === 0) end()
  }
}

function listenTo(signal: AbortSignal): AbortListeners {
  const all = new Set<() => void>()
  const end = (): void => {
    if (listeners.get(signal)?.all !== all) return
    listeners.delete(signal)
    signal.removeEventListener("abort", fire)
  }
  const fire = (): void => {
    end()
    for (const listener of all) listener()
  }
  signal.addEventListener("abort", fire)
  return { all, end }
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
    const off = onAbort(signal, abort)
    work.finally(off).then(resolve, reject)
    if (signal.aborted) abort()
  })
}
