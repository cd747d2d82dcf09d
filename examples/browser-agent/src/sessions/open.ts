/** A session that is shown: its handle, kept in step with what other tabs append. */
import { type CompactionSettings, type Session, type Sessions, hasCode } from "@sessions/core"
import { hasTurn, whenTurnsEnd } from "./presence.ts"

export interface Opened {
  readonly id: string
  /** Runs with the handle, which stays the same meanwhile; afterwards what other tabs have appended is read. */
  run<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Follows no more, and lets the handle go when the work on it has ended. */
  close(): void
}

export interface Follower {
  /** At first, after each append here, and when another tab's was read. */
  changed(session: Session): void
  /** Another tab has deleted it. */
  gone(): void
  /** A turn of another tab has begun or ended. */
  elsewhere(running: boolean): void
  /** The session is being summarized. */
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
        // It is among the session's diagnostics.
        if (!ended.signal.aborted) follower.changed(opened)
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** A handle reads its log when it opens it: for what others wrote since, it is opened anew. */
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
    // What came between the opening and the watch.
    await catchUp()
    for await (const _ of heads) {
      if (await hasTurn(id)) void told()
      await catchUp()
    }
    if (!ended.signal.aborted && (await storage.head(id)) === undefined) follower.gone()
  }

  let telling = false
  async function told(): Promise<void> {
    if (telling || busy > 0) return
    telling = true
    follower.elsewhere(true)
    await whenTurnsEnd(id, ended.signal)
    telling = false
    if (!ended.signal.aborted) follower.elsewhere(false)
  }

  const report = (error: unknown): void => {
    if (!ended.signal.aborted) follower.failed(error)
  }
  follower.changed(session)
  follow().catch((error: unknown) => (hasCode(error, "not_found") ? follower.gone() : report(error)))
  if (await hasTurn(id)) told().catch(report)

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
