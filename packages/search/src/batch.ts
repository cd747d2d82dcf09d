/** Collects changes for one transaction: one for each session would take ten times as long. */
import type { IndexChange, SearchIndex } from "./search-index.ts"

/** UTF-16 units of text in a transaction: some 20 ms, for which an index in SQLite stops the event loop. */
const BATCH_UNITS = 128_000
/** Changes without text. */
const MOST_CHANGES = 256

export class Batch {
  readonly #index: SearchIndex
  readonly #onRemoval: () => void
  #changes: IndexChange[] = []
  #units = 0

  /** `onRemoval`: called before rows are removed. */
  constructor(index: SearchIndex, onRemoval: () => void) {
    this.#index = index
    this.#onRemoval = onRemoval
  }

  get isFull(): boolean {
    return this.#units >= BATCH_UNITS || this.#changes.length >= MOST_CHANGES
  }

  /** The sessions whose changes are not written yet. */
  get sessions(): readonly string[] {
    return [...new Set(this.#changes.map(({ session }) => session))]
  }

  add(change: IndexChange): void {
    if ((change.reset && change.expect !== undefined) || change.removed.length > 0) this.#onRemoval()
    this.#changes.push(change)
    for (const { text } of change.rows) this.#units += text.length
  }

  /** Returns the sessions to look at again, because not all changes held. */
  async write(): Promise<readonly string[]> {
    const changes = this.#changes
    const { sessions } = this
    if (changes.length === 0) return []
    const wasFull = this.isFull
    this.#changes = []
    this.#units = 0
    const held = await this.#index.write(changes)
    // Other work of the process gets its turn.
    if (wasFull) await new Promise((resolve) => setTimeout(resolve, 0))
    return held ? [] : sessions
  }
}
