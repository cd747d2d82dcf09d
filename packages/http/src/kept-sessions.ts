/** Keeps sessions open between the requests of a server, so that the next request on one need not load it again. */
import { hasCode, type OpenOptions, type Session, SessionError, type Sessions } from "@sessions/core"
import { checkOptions, type OptionNames } from "@sessions/core/storage"

export interface KeepOptions {
  /** How long a session is kept after it was last opened, in ms. Default 1,800,000, 30 minutes; at most 2,147,483,647. */
  readonly idle?: number
  /** How many are kept; the least recently opened ones are released first. Default 100. */
  readonly most?: number
}

export interface KeptSessions {
  /**
   * A handle as of `Sessions.open`, which its caller closes. A session that was kept has taken over what other writers appended. `not_found`
   * if it was deleted. Its leaf is where the session was left, unless another writer has continued that.
   *
   * Closing the handle does not write the log to stable storage where the storage does that in `sync`: call `flush`.
   */
  open(id: string, o?: OpenOptions): Promise<Session>
  /** Releases a session; one that a handle still uses stays in memory until that is closed. False if it was not kept. */
  release(id: string): Promise<boolean>
  /** Releases all of them. */
  close(): Promise<void>
}

const OPTIONS: OptionNames<KeepOptions> = { idle: true, most: true }
/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1

/** Each kept session holds what was read of its log: at least the last window, 96 KB. */
export function keepSessions(sessions: Sessions, o: KeepOptions = {}): KeptSessions {
  checkOptions("keepSessions", o, OPTIONS)
  const { idle = 1_800_000, most = 100 } = o
  for (const [name, value] of Object.entries({ idle, most }))
    if (!(value >= 1)) throw new SessionError("invalid", `keepSessions: \`${name}\` must be a number from 1.`)
  /** The least recently opened first. */
  const kept = new Map<string, { readonly session: Session; readonly timer: ReturnType<typeof setTimeout> }>()

  async function release(id: string): Promise<boolean> {
    const one = kept.get(id)
    if (one === undefined) return false
    kept.delete(id)
    clearTimeout(one.timer)
    await one.session.close()
    return true
  }

  /** A handle of its own keeps the session in memory. */
  async function keep(id: string): Promise<void> {
    const session = await sessions.open(id)
    await release(id)
    const timer = setTimeout(() => void release(id).catch(() => undefined), Math.min(idle, LONGEST_MS))
    // A timer must not keep a process running that has nothing else to do.
    ;(timer as { unref?: () => void }).unref?.()
    kept.set(id, { session, timer })
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) await release(oldest)
  }

  return {
    async open(id, o) {
      const wasKept = kept.has(id)
      const session = await sessions.open(id, o)
      try {
        if (wasKept) await session.refresh(o?.signal && { signal: o.signal })
        await keep(id)
        return session
      } catch (error) {
        await session.close()
        // Another log has its id, or none: it is loaded anew.
        const isGone = hasCode(error, "not_found") || hasCode(error, "conflict")
        if (!(await release(id)) || !isGone) throw error
        return sessions.open(id, o)
      }
    },
    release,
    async close() {
      await Promise.all([...kept.keys()].map(release))
    },
  }
}
