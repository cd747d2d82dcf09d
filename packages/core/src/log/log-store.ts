/**
 * Reads older lines of a session's log on demand, one window at a time, into its `EntryLog`, and reports a divergence once the held
 * lines show it.
 */
import { SessionError } from "../format/errors.ts"
import { isOlder, type NeedsOlder } from "./path.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { divergenceOf } from "./divergence.ts"
import type { EntryLog } from "./entry-log.ts"
import { loadOlder } from "./loaded-log.ts"
import type { BackwardReading } from "./read-backwards.ts"

export interface Reading {
  readonly reading: BackwardReading
  /** See `LoadedLog.imported`. */
  readonly imported: Seq
}

export class LogStore {
  readonly id: string
  readonly storage: SessionStorage
  readonly diagnostics: Diagnostic[]
  /** The state of reading backwards; undefined for a log that was created here and is held whole. */
  #reading: Reading | undefined
  /** The number of held lines at the last check for divergence; `Infinity` if older lines cannot change its result. */
  #checked = 0
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
    this.#checked = 0
  }

  /**
   * Adds a diagnostic if the held lines show a divergence. "older": they end in two leaves, and only older lines show whether both are
   * on one path.
   */
  tellDivergence(log: EntryLog): "older" | undefined {
    const held = log.end - log.from
    // A check costs as much as the held lines, so it is repeated only when their number has doubled.
    const enough = this.#checked === Number.POSITIVE_INFINITY || (!log.complete && held < 2 * this.#checked)
    if (this.#reading === undefined || enough) return undefined
    const found = divergenceOf(log, this.#reading.imported)
    if (found === "older") return found
    this.#checked = found === undefined && !log.complete ? held : Number.POSITIVE_INFINITY
    if (found !== undefined && this.diagnostics.every(({ code }) => code !== "diverged")) this.diagnostics.push(found)
    return undefined
  }

  /**
   * Calls `ask` until its answer needs no older lines, reading further back each time. `ask` may run several times and must have no
   * side effects.
   */
  async untilKnown<T extends object>(log: () => EntryLog, ask: () => T | NeedsOlder, o: CallOptions = {}): Promise<T> {
    for (let reads = 0; ; reads++) {
      const answer = ask()
      if (isOlder(answer)) {
        // The first read has what is certainly needed and no more. If that was not enough, the next ones are windows, which grow.
        const { lines, hint } = answer
        const needed = lines === undefined ? hint : Math.max(0, log().from - lines)
        await this.older(log, reads === 0 ? needed : hint, { ...o, exactly: reads === 0 })
      } else {
        if (reads > 0) this.tellDivergence(log())
        return answer
      }
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
