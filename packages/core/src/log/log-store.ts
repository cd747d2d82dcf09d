/**
 * The in-memory end of a session's log with the storage behind it: reads further back on demand, one piece at a time, and starts
 * over where the log was replaced under it.
 */
import { SessionError } from "../format/errors.ts"
import { isOlder } from "./path.ts"
import type { NeedsOlder } from "./path.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { divergenceOf } from "./divergence.ts"
import type { EntryLog } from "./entry-log.ts"
import { loadOlder } from "./loaded-log.ts"
import type { BackwardReading } from "./read-backwards.ts"

export interface Reading {
  readonly reading: BackwardReading
  /** So many lines were made elsewhere, branches and all. */
  readonly imported: Seq
}

export class LogStore {
  readonly id: string
  readonly storage: SessionStorage
  readonly diagnostics: Diagnostic[]
  /** What was read, and how; undefined for a log that was made here, all of which is in memory. */
  #reading: Reading | undefined
  /** How many lines were held when the log's end was judged; `Infinity` when no line further back can change what was found. */
  #judged = 0
  #loading: Promise<unknown> = Promise.resolve()

  constructor(o: { id: string; storage: SessionStorage; reading: Reading | undefined; diagnostics: Diagnostic[] }) {
    this.id = o.id
    this.storage = o.storage
    this.diagnostics = o.diagnostics
    this.#reading = o.reading
  }

  /** The log was read anew. */
  restart(reading: Reading): void {
    this.#reading = reading
    this.#judged = 0
  }

  /**
   * Tells of another writer's turn beside the one that the log ends in, once it is held. "older": what is held ends in two tips,
   * and only what stands before can say whether they are one path.
   */
  tellDivergence(log: EntryLog): "older" | undefined {
    const held = log.end - log.from
    // To judge costs what is held: page by page through a long history, it is done as often as what is held has doubled.
    const enough = this.#judged === Number.POSITIVE_INFINITY || (!log.complete && held < 2 * this.#judged)
    if (this.#reading === undefined || enough) return undefined
    const found = divergenceOf(log, this.#reading.imported)
    if (found === "older") return found
    this.#judged = found === undefined && !log.complete ? held : Number.POSITIVE_INFINITY
    if (found !== undefined && this.diagnostics.every(({ code }) => code !== "diverged")) this.diagnostics.push(found)
    return undefined
  }

  /**
   * Asks until the answer needs no older part of the log, reading further back each time. `ask` may run several times and must
   * not change anything that matters to it.
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

  /** Loads the window before the held lines, or back to `hint`. Calls at once share one reading order. */
  async older(
    log: () => EntryLog,
    hint: Seq | undefined,
    o: CallOptions & { readonly exactly?: boolean } = {},
  ): Promise<void> {
    if (o.signal?.aborted === true)
      throw new StorageError("aborted", `Reading ${this.id} was aborted.`, { session: this.id })
    const from = log().from
    const run = this.#loading.then(async () => {
      // Somebody else's call may have loaded it while this one waited.
      if (log().from !== from) return
      const reading = this.#reading
      if (reading === undefined) throw new SessionError("invalid", `${this.id} has no stored log to read from.`)
      await loadOlder(this.storage, this.id, { ...reading, log: log(), diagnostics: this.diagnostics }, hint, o)
    })
    this.#loading = run.catch(() => undefined)
    await run
  }
}
