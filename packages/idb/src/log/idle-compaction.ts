/** When to fold: a while after appends to a session have stopped, if they left many rows. */

export interface Idle {
  /** A row was added to the session, or so many were seen. */
  note(session: string, rows?: number): void
  close(): void
}

/** Rows that are worth a fold. */
const MANY_ROWS = 32
/** A turn of an agent pauses for longer while its model thinks; an agent that streams small entries does not. */
const QUIET_MS = 2_000

export function createIdle(fold: (session: string) => Promise<unknown>): Idle {
  const sessions = new Map<string, { rows: number; at: number }>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  function schedule(): void {
    if (closed || timer !== undefined || sessions.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void work().finally(schedule)
    }, QUIET_MS)
  }

  async function work(): Promise<void> {
    const quiet = performance.now() - QUIET_MS
    for (const [session, { rows, at }] of sessions) {
      if (closed || at > quiet) continue
      sessions.delete(session)
      // Nobody waits for it. What is wrong here is wrong for the next call, which says so.
      if (rows >= MANY_ROWS) await fold(session).catch(() => undefined)
    }
  }

  return {
    note(session, rows = 1) {
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
