/** Runs the calls on one chat one after the other, also those of several stores on one repository. */
import type { Sessions } from "@sessions/core"

const queues = new WeakMap<Sessions, Map<string, Promise<unknown>>>()

/** Runs `work` after all earlier calls on this chat have ended. */
export function inTurn<T>(sessions: Sessions, id: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(sessions) ?? new Map<string, Promise<unknown>>()
  queues.set(sessions, queue)
  const result = (queue.get(id) ?? Promise.resolve()).then(work)
  const ended = result
    .catch(() => undefined)
    .then(() => {
      if (queue.get(id) === ended) queue.delete(id)
    })
  queue.set(id, ended)
  return result
}
