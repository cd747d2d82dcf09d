/** Waiting, one after the other, and ending the wait. */
import { checkSignal, StorageError } from "@sessions/core/storage"

/** Resolves after `ms`, or rejects with `aborted` as soon as the signal fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      try {
        checkSignal(signal)
        resolve()
      } catch (error) {
        reject(error)
      }
    }
    const timer = setTimeout(done, ms)
    if (signal?.aborted === true) done()
    else signal?.addEventListener("abort", done)
  })
}

/**
 * The work's outcome; once the signal fires, `aborted`, and the work settles by itself. `isSent` says whether its write is out by then;
 * work that is not sends nothing any more, since it looks at the signal before it does.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, isSent: () => boolean): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      const sent = isSent()
      const message = sent
        ? "The call was aborted after its write had been sent; the write settles by itself."
        : "The call was aborted before anything was sent."
      reject(new StorageError("aborted", message, { ...(sent ? { sent } : {}), cause: signal.reason }))
    }
    const settle = (): void => signal.removeEventListener("abort", abort)
    work.finally(settle).then(resolve, reject)
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort)
  })
}

/** Runs one task after the other, in the order of the calls; a task that fails stops none behind it. */
export interface TaskQueue {
  /** Neither running nor waiting tasks. */
  readonly idle: boolean
  run<T>(task: () => Promise<T>): Promise<T>
}

export function createTaskQueue(): TaskQueue {
  let last: Promise<unknown> = Promise.resolve()
  let pending = 0
  return {
    get idle() {
      return pending === 0
    },
    run(task) {
      pending++
      const result = last.then(task).finally(() => {
        pending--
      })
      last = result.catch(() => undefined)
      return result
    },
  }
}
