/**
 * Tracks the calls of one storage object. A call after disposal is refused, disposal waits for pending calls, a signal rejects its call
 * with `aborted`, and errors get the storage, session and key they belong to.
 */
import { rejectOnAbort, checkSignal } from "./signals.ts"
import type { CallOptions } from "./contract.ts"
import { StorageError } from "./errors.ts"

export interface Call {
  /** Completes the error text "Could not …". */
  readonly doing: string
  readonly session?: string
  /** The document's key or the blob's hash. */
  readonly at?: string
  /** True for a write: a signal that fires while it runs cannot keep it from the store. */
  readonly writes?: true | undefined
}

export interface Calls {
  /** Fires when the storage is disposed of. */
  readonly closing: AbortSignal
  /** Throws if the storage is closed or the signal has fired. */
  readonly enter: (o: CallOptions | undefined) => void
  /** Calls `enter`, then `work`. The synchronous part of `work` runs before this returns. */
  readonly call: <T>(call: Call, o: CallOptions | undefined, work: () => T | Promise<T>) => Promise<T>
  /** Each step is a call. The source is ended when the reader stops, or when the storage is closed while the reader is idle. */
  readonly each: <T>(
    call: Call,
    o: CallOptions | undefined,
    open: () => AsyncIterable<T>,
  ) => AsyncGenerator<T, void, undefined>
  /** The error as a {@link StorageError}, with the storage, session and key it belongs to. */
  readonly explain: (error: unknown, call: Call) => StorageError
  /** Refuses further calls, waits for pending ones, then closes the store. Idempotent. */
  readonly close: (store: () => void | Promise<void>) => Promise<void>
}

export interface CallsOptions {
  /** A short name and location for error messages, e.g. `fs:/srv/agent/.sessions`. */
  readonly description: string
  /**
   * True: the work of a call checks `signal` itself until it sends. Default false: a call rejects with `aborted` as soon as its signal
   * fires, and a write counts as sent.
   */
  readonly aborts?: boolean
  /**
   * Converts an error that is not a {@link StorageError}. Default: `unavailable`. Missing `storage`, `session` and `at` are added.
   */
  readonly toError?: (error: unknown, call: Call) => StorageError
}

export function createCalls({ description, aborts, toError = unavailableError }: CallsOptions): Calls {
  const closing = new AbortController()
  const closed = closing.signal
  // Reading `aborted` of a signal takes several calls, and each append looks.
  let isClosed = false
  /** End the sources of idle readers: those that have yielded a step and wait for the next request. */
  const idleReaders = new Set<() => Promise<unknown>>()
  let pending = 0
  let idle = (): void => undefined
  let closes: Promise<void> | undefined

  const enter: Calls["enter"] = (o) => {
    if (isClosed) throw new StorageError("closed", "This storage was disposed of; make another.")
    checkSignal(o?.signal)
  }

  const explain: Calls["explain"] = (error, call) => {
    const known = error instanceof StorageError ? error : toError(error, call)
    const { session = call.session, at = call.at } = known
    // An error that names a storage may come from another one, whose log is copied to this one.
    return known.storage === undefined
      ? Object.assign(known, { storage: description }, session && { session }, at && { at })
      : known
  }

  const ended = (): void => {
    if (--pending === 0) idle()
  }

  const track = <T>(call: Call, work: () => T | Promise<T>): Promise<T> => {
    let result: T | Promise<T>
    pending++
    try {
      result = work()
    } catch (error) {
      return trackAsync(call, Promise.reject(error))
    }
    if (isThenable(result)) return trackAsync(call, result)
    // Done already, as an append to files is: an async function would take more promises and ticks.
    ended()
    return Promise.resolve(result)
  }

  const trackAsync = async <T>(call: Call, result: Promise<T>): Promise<T> => {
    try {
      return await result
    } catch (error) {
      throw explain(error, call)
    } finally {
      ended()
    }
  }

  const call: Calls["call"] = (call, o, work) => {
    const running = track(call, () => {
      enter(o)
      return work()
    })
    // If the signal had fired before, `enter` has thrown and nothing runs.
    if (aborts === true || o?.signal === undefined || o.signal.aborted) return running
    return rejectOnAbort(running, o.signal, (cause) => explain(abortedCallError(call.writes === true, cause), call))
  }

  return {
    closing: closed,
    enter,
    call,
    explain,

    async *each<T>(what: Call, o: CallOptions | undefined, open: () => AsyncIterable<T>) {
      let steps: AsyncIterator<T> | undefined
      const end = (): Promise<unknown> => track(what, () => steps?.return?.())
      try {
        for (;;) {
          const step = await call(what, o, async () => {
            steps ??= open()[Symbol.asyncIterator]()
            const step = await steps.next()
            // The reader may never ask again, and the storage may be closed before it gets this step.
            if (isClosed) await steps.return?.()
            else idleReaders.add(end)
            return step
          })
          if (step.done === true) return
          yield step.value
        }
      } finally {
        idleReaders.delete(end)
        const ended = end()
        // A step may still be running; its source ends after it.
        if (o?.signal?.aborted === true) ended.catch(() => undefined)
        else await ended
      }
    },

    close: (store) =>
      (closes ??= (async () => {
        isClosed = true
        closing.abort()
        for (const end of idleReaders) end().catch(() => undefined)
        if (pending > 0) await new Promise<void>((resolve) => (idle = resolve))
        await track({ doing: "close the storage" }, store)
      })()),
  }
}

/**
 * Returns the outcome of `work`, or rejects with `aborted` once the signal fires, while the work goes on. `isSent` returns whether its
 * write was sent by then; work that was not sent must not send anything afterwards.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, isSent: () => boolean): Promise<T> {
  return rejectOnAbort(work, signal, (cause) => abortedCallError(isSent(), cause))
}

export function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function"
}

function abortedCallError(sent: boolean, cause: unknown): StorageError {
  const message = sent
    ? "The call was aborted after its write had been sent; the write may still succeed."
    : "The call was aborted before anything was sent."
  return new StorageError("aborted", message, { ...(sent && { sent }), cause })
}

function unavailableError(cause: unknown, { doing }: Call): StorageError {
  return new StorageError("unavailable", `Could not ${doing} (${String(cause)}); repeat the call.`, { cause })
}
