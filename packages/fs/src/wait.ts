/** Waiting, one after the other, and ending the wait. */
import { checkSignal } from "@sessions/core/storage"

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
