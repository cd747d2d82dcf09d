/**
 * Reads the records of a thread backwards, only as far as an answer needs. The claims of the records (see `Claim`) bound the ids that the
 * unread part may mention, so a checkpoint is known to be the latest, and its writes to be complete, as soon as the bound is below its id.
 */
import type { Seq } from "@sessions/core/storage"
import type { LogLines } from "./log-lines.ts"
import { type Claim, type FoundCheckpoint, type FoundWrites, greater } from "./records.ts"

/** A checkpoint with the writes of its tasks, in log order. */
export interface Scanned {
  readonly checkpoint: FoundCheckpoint
  readonly writes: readonly FoundWrites[]
}

export class Scan {
  readonly lines: LogLines
  /** The seq of the last line that was read. Line 0 is the header. */
  #at: Seq
  /** Claims about less than what is unread. */
  #claims: Claim[] = []
  /** The greatest id that an unread line may mention; undefined: none mentions any. */
  #bound: string | undefined
  #isBound = false
  /** By namespace and id. Of several puts of one id the last counts. */
  readonly #checkpoints = new Map<string, FoundCheckpoint>()
  /** Newest first. */
  readonly #writes = new Map<string, FoundWrites[]>()

  constructor(lines: LogLines) {
    this.lines = lines
    this.#at = lines.head.next
    if (this.#at <= 1) this.#isBound = true
  }

  /** The checkpoint with this id. */
  async find(ns: string, id: string): Promise<Scanned | undefined> {
    while (!this.#isComplete(id)) await this.#step()
    const checkpoint = this.#checkpoints.get(keyOf(ns, id))
    return checkpoint === undefined ? undefined : this.#scanned(checkpoint)
  }

  /** The checkpoint with the greatest id. */
  async latest(ns: string): Promise<Scanned | undefined> {
    for await (const found of this.newestFirst((data) => data.ns === ns)) return found
    return undefined
  }

  /** The checkpoints that match, the greatest id first; those of one id by namespace. Each is forgotten when the next is asked for. */
  async *newestFirst(matches: (data: FoundCheckpoint["data"]) => boolean): AsyncGenerator<Scanned, void, undefined> {
    for (;;) {
      const done = this.#at <= 1
      const complete = [...this.#checkpoints.values()].filter(({ data }) => this.#isComplete(data.id))
      for (const checkpoint of complete.sort(byIdDown)) {
        if (matches(checkpoint.data)) yield this.#scanned(checkpoint)
        const key = keyOf(checkpoint.data.ns, checkpoint.data.id)
        this.#checkpoints.delete(key)
        this.#writes.delete(key)
      }
      if (done) return
      await this.#step()
    }
  }

  /** The greatest id that any line mentions. */
  async greatest(): Promise<string | undefined> {
    while (!this.#isBound) await this.#step()
    let max = this.#bound
    for (const { data } of this.#checkpoints.values()) max = greater(max, data.id)
    for (const [first] of this.#writes.values()) max = greater(max, first?.data.id)
    return max
  }

  /** The last checkpoint in log order that was read so far. */
  get newestRead(): FoundCheckpoint | undefined {
    let newest: FoundCheckpoint | undefined
    for (const found of this.#checkpoints.values()) if (newest === undefined || found.seq > newest.seq) newest = found
    return newest
  }

  #isComplete(id: string): boolean {
    return this.#at <= 1 || (this.#isBound && (this.#bound === undefined || this.#bound < id))
  }

  async #step(): Promise<void> {
    const seq = --this.#at
    const found = await this.lines.record(seq)
    if (found !== undefined) {
      const key = keyOf(found.data.ns, found.data.id)
      if (found.kind === "writes") {
        const list = this.#writes.get(key)
        if (list === undefined) this.#writes.set(key, [found])
        else list.push(found)
      } else if (!this.#checkpoints.has(key)) this.#checkpoints.set(key, found)
      this.#claims.push(found.data)
    }
    if (seq <= 1) this.#take({ seen: seq })
    const effective = this.#claims.filter(({ seen }) => seen >= seq)
    if (effective.length === 0) return
    for (const claim of effective) this.#take(claim)
    this.#claims = this.#claims.filter(({ seen }) => seen < seq)
  }

  #take({ max }: Claim): void {
    if (!this.#isBound) this.#bound = max
    else if (this.#bound !== undefined && (max === undefined || max < this.#bound)) this.#bound = max
    this.#isBound = true
  }

  #scanned(checkpoint: FoundCheckpoint): Scanned {
    const writes = this.#writes.get(keyOf(checkpoint.data.ns, checkpoint.data.id)) ?? []
    return { checkpoint, writes: writes.toReversed() }
  }
}

function keyOf(ns: string, id: string): string {
  return JSON.stringify([ns, id])
}

function byIdDown(a: FoundCheckpoint, b: FoundCheckpoint): number {
  if (a.data.id !== b.data.id) return a.data.id < b.data.id ? 1 : -1
  return a.data.ns < b.data.ns ? -1 : a.data.ns > b.data.ns ? 1 : 0
}
