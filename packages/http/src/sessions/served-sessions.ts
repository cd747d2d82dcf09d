/** The sessions that this process serves, by repository and id. Those that nothing depends on are dropped, the least recently used first. */
import type { Sessions } from "@sessions/core"
import { type ServedOptions, ServedSession } from "./served-session.ts"

/** One holds the queue and the ids of a day: some 100 kB for a busy session. */
const KEPT = 1_000

export type ServedSessionsOptions = Omit<ServedOptions, "runner"> & { readonly newId: () => string }

export class ServedSessions {
  readonly #o: ServedSessionsOptions
  readonly #byRepository = new WeakMap<Sessions, Map<string, ServedSession>>()
  /** The least recently used first. */
  readonly #all = new Map<ServedSession, () => void>()

  constructor(o: ServedSessionsOptions) {
    this.#o = o
  }

  get(sessions: Sessions, id: string): ServedSession {
    let byId = this.#byRepository.get(sessions)
    if (byId === undefined) this.#byRepository.set(sessions, (byId = new Map()))
    const ids = byId
    const known = ids.get(id)
    // A runner of its own: another object may have been dropped while a request still uses it.
    const one = known ?? new ServedSession(sessions, id, { ...this.#o, runner: this.#o.newId() })
    ids.set(id, one)
    this.#all.delete(one)
    this.#all.set(one, () => ids.delete(id))
    if (known === undefined) this.#drop()
    return one
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((one) => one.close()))
  }

  #drop(): void {
    for (const [one, forget] of this.#all) {
      if (this.#all.size <= KEPT) return
      if (one.isNeeded) continue
      this.#all.delete(one)
      forget()
    }
  }
}
