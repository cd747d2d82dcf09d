/** Opens a session and follows it: reopens it when another tab has appended, and reports changes. */
import { type CompactionSettings, type Session, type Sessions, hasCode } from "@sessions/core"
import { isTurnRunning, whenTurnsEnd } from "./presence.ts"

export interface Opened {
  readonly id: string
  /** Runs work on the session, which is not reopened meanwhile. Appends of other tabs are read afterwards. */
  run<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Stops following, and closes the session when all work on it has ended. */
  close(): void
}

export interface Follower {
  /** After opening, after each append here, and after appends of another tab were read. */
  changed(session: Session): void
  /** Another tab has deleted the session. */
  gone(): void
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
  const { storage } = sessions
  const ended = new AbortController()
  let session = await sessions.open(id, { compaction })
  let unsubscribe = listen()
  let busy = 0
  let catchingUp: Promise<void> | undefined

  function listen(): () => void {
    const opened = session
    const stops = [
      opened.on("appended", () => {
        if (!ended.signal.aborted) follower.changed(opened)
      }),
      opened.on("compact_start", () => follower.compacting(true)),
      opened.on("compact_complete", () => follower.compacting(false)),
      opened.on("compact_failed", () => {
        follower.compacting(false)
        // The session's diagnostics contain the failure.
        if (!ended.signal.aborted) follower.changed(opened)
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** A session reads its log when it is opened, so it is reopened to read the appends of other tabs. */
  async function reopen(): Promise<void> {
    const stored = await storage.head(id)
    if (stored === undefined) return
    if (stored.next === session.head?.next && stored.log === session.head.log) return
    unsubscribe()
    await session.close()
    session = await sessions.open(id, { compaction })
    unsubscribe = listen()
    if (!ended.signal.aborted) follower.changed(session)
  }

  async function catchUp(): Promise<void> {
    if (busy > 0 || ended.signal.aborted) return
    catchingUp ??= reopen().finally(() => (catchingUp = undefined))
    await catchingUp
  }

  async function follow(): Promise<void> {
    const heads = storage.watch?.(id, { signal: ended.signal }) ?? []
    // Reads appends between the opening and the watch.
    await catchUp()
    for await (const _ of heads) {
      if (await isTurnRunning(id)) void followTurn()
      await catchUp()
    }
    if (!ended.signal.aborted && (await storage.head(id)) === undefined) follower.gone()
  }

  let following = false
  async function followTurn(): Promise<void> {
    if (following || busy > 0) return
    following = true
    follower.turnElsewhere(true)
    await whenTurnsEnd(id, ended.signal)
    following = false
    if (!ended.signal.aborted) follower.turnElsewhere(false)
  }

  const report = (error: unknown): void => {
    if (!ended.signal.aborted) follower.failed(error)
  }
  follower.changed(session)
  follow().catch((error: unknown) => (hasCode(error, "not_found") ? follower.gone() : report(error)))
  if (await isTurnRunning(id)) followTurn().catch(report)

  const release = async (): Promise<void> => {
    unsubscribe()
    await session.close()
  }
  return {
    id,
    async run(work) {
      while (catchingUp !== undefined) await catchingUp
      busy++
      try {
        return await work(session)
      } finally {
        busy--
        if (ended.signal.aborted && busy === 0) release().catch(() => undefined)
        else catchUp().catch((error: unknown) => (hasCode(error, "not_found") ? undefined : report(error)))
      }
    },
    close() {
      ended.abort()
      if (busy === 0) (catchingUp ?? Promise.resolve()).then(release).catch(() => undefined)
    },
  }
}
