/** The calls of one storage object: refused after its disposal, waited for by it, ended by their signals, explained when they fail. */
import { checkSignal } from "./checks.ts"
import type { CallOptions } from "./contract.ts"
import { StorageError } from "./errors.ts"

export interface Call {
  /** Completes "Could not …". */
  readonly doing: string
  readonly session?: string
  /** The document's key or the blob's hash. */
  readonly at?: string
  /** A signal that fires under way comes too late to keep it from the store. */
  readonly writes?: true | undefined
}

export interface Calls {
  /** Fires when the storage is disposed of. */
  readonly closing: AbortSignal
  /** Throws where the storage is closed or the signal has fired. */
  readonly enter: (o: CallOptions | undefined) => void
  /** Enters, and does the work, which begins before this returns. */
  readonly call: <T>(call: Call, o: CallOptions | undefined, work: () => T | Promise<T>) => Promise<T>
  /** Each step is a call. A reader that stops ends the source, and so does the closing for one that stands. */
  readonly each: <T>(
    call: Call,
    o: CallOptions | undefined,
    open: () => AsyncIterable<T>,
  ) => AsyncGenerator<T, void, undefined>
  /** Refuses further calls, waits for those under way, then closes the store; more than once is the same as once. */
  readonly close: (store: () => void | Promise<void>) => Promise<void>
}

export interface CallsOptions {
  readonly description: string
  readonly aborts?: boolean
  readonly toError?: (error: unknown, call: Call) => StorageError
}

export function createCalls({ description, aborts, toError = unavailable }: CallsOptions): Calls {
  const closing = new AbortController()
  const closed = closing.signal
  /** Ends the sources of readers that wait for their reader. */
  const standing = new Set<() => Promise<unknown>>()
  let pending = 0
  let idle = (): void => undefined
  let closes: Promise<void> | undefined

  const enter: Calls["enter"] = (o) => {
    if (closed.aborted) throw new StorageError("closed", "This storage was disposed of; make another.")
    checkSignal(o?.signal)
  }

  const explain = (error: unknown, call: Call): StorageError => {
    const known = error instanceof StorageError ? error : toError(error, call)
    const { session = call.session, at = call.at } = known
    // An error that names a storage may be another's, whose log is copied to this one.
    return known.storage === undefined
      ? Object.assign(known, { storage: description }, session && { session }, at && { at })
      : known
  }

  const track = async <T>(call: Call, work: () => T | Promise<T>, begin?: () => void): Promise<T> => {
    pending++
    try {
      begin?.()
      return await work()
    } catch (error) {
      throw explain(error, call)
    } finally {
      if (--pending === 0) idle()
    }
  }

  const call: Calls["call"] = (call, o, work) => {
    const running = track(call, work, () => enter(o))
    // Where the signal had fired before, it has not begun.
    if (aborts === true || o?.signal === undefined || o.signal.aborted) return running
    return unlessAborted(running, o.signal, () => call.writes === true).catch((error: unknown) => {
      throw explain(error, call)
    })
  }

  return {
    closing: closed,
    enter,
    call,

    async *each<T>(what: Call, o: CallOptions | undefined, open: () => AsyncIterable<T>) {
      let steps: AsyncIterator<T> | undefined
      const end = (): Promise<unknown> => track(what, () => steps?.return?.())
      try {
        for (;;) {
          const step = await call(what, o, async () => {
            steps ??= open()[Symbol.asyncIterator]()
            const step = await steps.next()
            // Its reader may never come back for more, nor be told of the step before the storage is closed.
            if (closed.aborted) await steps.return?.()
            else standing.add(end)
            return step
          })
          if (step.done === true) return
          yield step.value
        }
      } finally {
        standing.delete(end)
        const ended = end()
        // Its step may still be under way, and ends when it ends.
        if (o?.signal?.aborted === true) ended.catch(() => undefined)
        else await ended
      }
    },

    close: (store) =>
      (closes ??= (async () => {
        closing.abort()
        for (const end of standing) end().catch(() => undefined)
        if (pending > 0) await new Promise<void>((resolve) => (idle = resolve))
        await track({ doing: "close the storage" }, store)
      })()),
  }
}

/**
 * The work's outcome; once the signal fires, `aborted`, and the work settles by itself. `isSent` says whether its write is out by
 * then; work that is not must send nothing any more.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, isSent: () => boolean): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      const sent = isSent()
      const message = sent
        ? "The call was aborted after its write had been sent; the write settles by itself."
        : "The call was aborted before anything was sent."
      reject(new StorageError("aborted", message, { ...(sent && { sent }), cause: signal.reason }))
    }
    work.finally(() => signal.removeEventListener("abort", abort)).then(resolve, reject)
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort)
  })
}

function unavailable(cause: unknown, { doing }: Call): StorageError {
  return new StorageError("unavailable", `Could not ${doing} (${String(cause)}); repeat the call.`, { cause })
}
