/** Listeners to the changes of sessions, for the `subscribe` of `watchHeads`. */
export interface Listeners {
  /** The sessions that have listeners. */
  readonly sessions: Iterable<string>
  /** Whether no session has any. */
  readonly isEmpty: boolean
  /** Whether the session has any. */
  readonly has: (session: string) => boolean
  /** Returns the function that removes the listener. */
  readonly add: (session: string, listener: () => void) => () => void
  readonly notify: (session: string) => void
}

export function createListeners(): Listeners {
  const bySession = new Map<string, Set<() => void>>()
  return {
    get sessions() {
      return bySession.keys()
    },
    get isEmpty() {
      return bySession.size === 0
    },
    has: (session) => bySession.has(session),
    add(session, listener) {
      const all = bySession.get(session) ?? new Set()
      bySession.set(session, all.add(listener))
      return () => {
        all.delete(listener)
        // Called again, it must not remove the listeners that came since.
        if (all.size === 0 && bySession.get(session) === all) bySession.delete(session)
      }
    },
    notify(session) {
      for (const listener of bySession.get(session) ?? []) listener()
    },
  }
}
