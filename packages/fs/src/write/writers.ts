/** The writers of one storage object: one per session, with a limit on open files. */
import type { Deps } from "../deps.ts"
import { toSessionPaths } from "../disk/layout.ts"
import { SessionWriter } from "./writer.ts"

export interface Writers {
  get(session: string): SessionWriter
  find(session: string): SessionWriter | undefined
  /** Flushes derived files, releases every lock and closes every file. */
  close(): Promise<void>
}

/** Each holds one descriptor. The usual limit of a process is 1,024, on macOS 256. */
const MAX_OPEN = 64

export function createWriters(deps: Deps): Writers {
  /** Least recently used first. */
  const writers = new Map<string, SessionWriter>()

  const evict = (): void => {
    for (const [session, writer] of writers) {
      if (writers.size <= MAX_OPEN) return
      if (!writer.idle) continue
      writers.delete(session)
      writer.closeNow()
    }
  }

  return {
    get(session) {
      let writer = writers.get(session)
      if (writer !== undefined && writers.size < MAX_OPEN) return writer
      writer ??= new SessionWriter(deps, session, toSessionPaths(deps.layout, session))
      writers.delete(session)
      writers.set(session, writer)
      evict()
      return writer
    },
    find: (session) => writers.get(session),
    async close() {
      await Promise.all([...writers.values()].map((writer) => writer.close()))
      writers.clear()
    },
  }
}
