/** The writers of a saver's threads. Each keeps its session open; of those that are idle only the most recently used stay. */
import type { Sessions } from "@sessions/core"
import { ThreadWriter, type Written } from "./writer.ts"

/** Open sessions that no call uses. One holds the end of its log and at most 4 MB that it has appended. */
const IDLE = 16

export class Writers {
  readonly #sessions: Sessions
  /** The least recently used first. */
  readonly #byId = new Map<string, ThreadWriter>()

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  append(thread: string, id: string, ...args: Parameters<ThreadWriter["append"]>): Promise<Written> {
    return this.#of(thread, id).append(...args)
  }

  alone<T>(thread: string, id: string, work: () => Promise<T>): Promise<T> {
    return this.#of(thread, id).alone(work)
  }

  async close(): Promise<void> {
    const writers = [...this.#byId.values()]
    this.#byId.clear()
    await Promise.all(writers.map((writer) => writer.alone(async () => undefined)))
  }

  #of(thread: string, id: string): ThreadWriter {
    const writer = this.#byId.get(id) ?? new ThreadWriter(this.#sessions, thread, id)
    this.#byId.delete(id)
    this.#byId.set(id, writer)
    let idle = this.#byId.size - IDLE
    for (const [other, oldest] of this.#byId) {
      if (idle-- <= 0) break
      if (oldest === writer || !oldest.isIdle) continue
      this.#byId.delete(other)
      // It has appended everything; a call that comes meanwhile gets a writer of its own.
      void oldest.alone(async () => undefined).catch(() => undefined)
    }
    return writer
  }
}
