/** A queue of tasks, such as the calls on one session, that run one after the other. */
export interface Queue {
  /** Whether nothing runs or waits. */
  readonly idle: boolean
  /** Runs the task when all earlier ones have ended. One that fails does not stop those behind it. */
  run<T>(task: () => Promise<T> | T): Promise<T>
}

export function createQueue(): Queue {
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
