/** Reads older lines of a session's log on demand, one window at a time, into its `EntryLog`. */
import { SessionError } from "../format/errors.ts"
import { isOlder, type NeedsOlder } from "./path.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import type { EntryLog } from "./entry-log.ts"
import { loadOlder } from "./loaded-log.ts"
import type { BackwardReading } from "./read-backwards.ts"

export interface Reading {
  readonly reading: BackwardReading
}

export class LogStore {
  readonly id: string
  readonly storage: SessionStorage
  readonly diagnostics: Diagnostic[]
  /** The state of reading backwards; undefined for a log that was created here and is held whole. */
  #reading: Reading | undefined
  #loading: Promise<unknown> = Promise.resolve()

  constructor(o: { id: string; storage: SessionStorage; reading: Reading | undefined; diagnostics: Diagnostic[] }) {
    this.id = o.id
    this.storage = o.storage
    this.diagnostics = o.diagnostics
    this.#reading = o.reading
  }

  /** The log was read again. */
  restart(reading: Reading): void {
    this.#reading = reading
  }

  /**
   * Calls `ask` until its answer needs no older lines, reading further back each time. `ask` may run several times and must have no
   * side effects.
   */
  async untilKnown<T extends object>(log: () => EntryLog, ask: () => T | NeedsOlder, o: CallOptions = {}): Promise<T> {
    for (let reads = 0; ; reads++) {
      const answer = ask()
      if (!isOlder(answer)) return answer
      // The first read has what is certainly needed and no more. If that was not enough, the next ones are windows, which grow.
      const { lines, hint } = answer
      const needed = lines === undefined ? hint : Math.max(0, log().from - lines)
      await this.older(log, reads === 0 ? needed : hint, { ...o, exactly: reads === 0 })
    }
  }

  /** Loads the window before the held lines, or back to `hint`. Concurrent calls run one after the other. */
  async older(
    log: () => EntryLog,
    hint: Seq | undefined,
    o: CallOptions & { readonly exactly?: boolean } = {},
  ): Promise<void> {
    if (o.signal?.aborted === true)
      throw new StorageError("aborted", `Reading ${this.id} was aborted.`, { session: this.id })
    const from = log().from
    const run = this.#loading.then(async () => {
      // A concurrent call may have loaded it meanwhile.
      if (log().from !== from) return
      const reading = this.#reading
      if (reading === undefined) throw new SessionError("invalid", `${this.id} has no stored log to read from.`)
      await loadOlder(this.storage, this.id, { ...reading, log: log(), diagnostics: this.diagnostics }, hint, o)
    })
    this.#loading = run.catch(() => undefined)
    await run
  }
}
