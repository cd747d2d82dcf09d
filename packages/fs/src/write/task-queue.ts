/** Runs tasks one after the other, in the order of the calls. A failed task does not stop those behind it. */
export interface TaskQueue {
  /** Nothing is running or queued. */
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
