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
  const waiting = new Map<string, { readonly rows: number; readonly timer: ReturnType<typeof setTimeout> }>()

  return {
    count(session, more = 1) {
      const before = waiting.get(session)
      clearTimeout(before?.timer)
      const rows = more + (before?.rows ?? 0)
      const timer = setTimeout(() => {
        waiting.delete(session)
        // Ignored: no call waits for it, and the next call meets the same error and reports it.
        if (rows >= MANY_ROWS) compact(session).catch(() => undefined)
      }, QUIET_MS)
      waiting.set(session, { rows, timer })
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer)
    },
  }
}
