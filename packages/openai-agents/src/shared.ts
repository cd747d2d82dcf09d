/** State that the objects of one session share in a process: the order of their calls, and where the log was known to end. */
import type { Session, Sessions } from "@sessions/core"
import { createQueue } from "@sessions/core/storage"

export class SharedState {
  readonly #calls = createQueue()
  #leafId: string | null = null
  #next = -1

  /** Runs after all earlier calls. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return this.#calls.run(call)
  }

  /** Whether the session's leaf is the last entry of a complete batch at the end of the log, as far as this process knows. */
  isAtEnd(session: Session): boolean {
    return session.head.next === this.#next && session.leafId === this.#leafId
  }

  /** An append of items has just ended the log. */
  ended(session: Session): void {
    this.#leafId = session.leafId
    this.#next = session.head.next
  }
}

const states: WeakMap<Sessions, Map<string, SharedState>> = new WeakMap()

/** The state of a session of a repository. It stays as long as the repository. */
export function sharedState(sessions: Sessions, sessionId: string): SharedState {
  const known = states.get(sessions) ?? new Map<string, SharedState>()
  states.set(sessions, known)
  const state = known.get(sessionId) ?? new SharedState()
  known.set(sessionId, state)
  return state
}
