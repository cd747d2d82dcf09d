/** Opens a session and follows it: reports its changes here and in other tabs. */
import { type Session, type Sessions, hasCode } from "@sessions/core"
import { automaticCompaction, type CompactionSettings } from "@sessions/core/compaction"
import { isTurnRunning, whenTurnsEnd } from "./presence.ts"

export interface Opened {
  readonly id: string
  /** Runs work on the session, which stays open until the work has ended. */
  run<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Stops following, and closes the session when all work on it has ended. */
  close(): void
}

export interface Follower {
  /** After opening, after each append here, and after appends of another tab were read. */
  changed(session: Session): void
  /** Another tab has deleted the session. */
  gone(): void
  /** The log was rewritten in another version: the session must be opened again. */
  outdated(): void
  /** Another tab has begun or ended a turn. */
  turnElsewhere(running: boolean): void
  /** A compaction has begun or ended. */
  compacting(running: boolean): void
  failed(error: unknown): void
}

export async function openFollowed(
  sessions: Sessions,
  id: string,
  compaction: CompactionSettings,
  follower: Follower,
): Promise<Opened> {
  const ended = new AbortController()
  const session = await sessions.open(id, { compaction: automaticCompaction(compaction) })
  let busy = 0
  const unlessEnded = (report: () => void): void => {
    if (!ended.signal.aborted) report()
  }
  const changed = (): void => unlessEnded(() => follower.changed(session))

  session.on("appended", changed)
  session.on("foreign", () => {
    changed()
    followTurn().catch(failed)
  })
  session.on("compact_start", () => unlessEnded(() => follower.compacting(true)))
  session.on("compact_complete", () => unlessEnded(() => follower.compacting(false)))
  session.on("compact_failed", () => {
    unlessEnded(() => follower.compacting(false))
    // The session's diagnostics contain the failure.
    changed()
  })

  function failed(error: unknown): void {
    unlessEnded(() => {
      if (hasCode(error, "not_found")) follower.gone()
      else if (hasCode(error, "conflict")) follower.outdated()
      else follower.failed(error)
    })
  }

  let following = false
  async function followTurn(): Promise<void> {
    if (following || busy > 0 || !(await isTurnRunning(id))) return
    following = true
    unlessEnded(() => follower.turnElsewhere(true))
    await whenTurnsEnd(id, ended.signal)
    following = false
    unlessEnded(() => follower.turnElsewhere(false))
  }

  changed()
  session.follow({ signal: ended.signal }).catch(failed)
  followTurn().catch(failed)

  const close = (): void => void session.close().catch(() => undefined)
  return {
    id,
    async run(work) {
      busy++
      try {
        return await work(session)
      } finally {
        busy--
        if (ended.signal.aborted && busy === 0) close()
      }
    },
    close() {
      ended.abort()
      if (busy === 0) close()
    },
  }
}
