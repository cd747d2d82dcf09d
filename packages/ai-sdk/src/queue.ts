/** Runs the calls on one chat one after the other, also those of several stores on one repository. */
import type { Sessions } from "@sessions/core"
import { createQueue, type Queue } from "@sessions/core/storage"

const queues = new WeakMap<Sessions, Map<string, Queue>>()

/** Runs `work` after all earlier calls on this chat have ended. */
export function inTurn<T>(sessions: Sessions, id: string, work: () => Promise<T>): Promise<T> {
  const chats = queues.get(sessions) ?? new Map<string, Queue>()
  queues.set(sessions, chats)
  const queue = chats.get(id) ?? createQueue()
  chats.set(id, queue)
  return queue.run(work).finally(() => {
    if (queue.idle) chats.delete(id)
  })
}
