/** Compacts the rows of a session some time after its last append, if the appends left many rows. */

export interface IdleCompaction {
  /** Counts new rows of a session, or many rows that a reader found. */
  count(session: string, rows?: number): void
  close(): void
}

/** Fewer new rows are not worth a compaction. */
const MANY_ROWS = 32
/** An agent that streams small entries pauses for less than this within a turn; a pause for the model is longer. */
const QUIET_MS = 2_000

export function createIdleCompaction(compact: (session: string) => Promise<unknown>): IdleCompaction {
  const sessions = new Map<string, { rows: number; at: number }>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  function schedule(): void {
    if (closed || timer !== undefined || sessions.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void compactQuietSessions().finally(schedule)
    }, QUIET_MS)
  }

  async function compactQuietSessions(): Promise<void> {
    const quietSince = performance.now() - QUIET_MS
    for (const [session, { rows, at }] of sessions) {
      if (closed || at > quietSince) continue
      sessions.delete(session)
      // Ignored: no call waits for it, and the next call meets the same error and reports it.
      if (rows >= MANY_ROWS) await compact(session).catch(() => undefined)
    }
  }

  return {
    count(session, rows = 1) {
      const before = sessions.get(session)?.rows ?? 0
      sessions.set(session, { rows: before + rows, at: performance.now() })
      schedule()
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
