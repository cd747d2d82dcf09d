/**
 * The losses of a log, as a list in which each handle has its place: its caller learns of each loss once, also of one that another handle or a
 * compaction in the background has met. What all of them know is held by none, and leaves memory.
 */
import type { SessionError } from "../format/errors.ts"

interface Place {
  /** With `next`; without them no loss has come yet. */
  loss?: SessionError
  next?: Place
}

export class Losses {
  #end: Place = {}

  get end(): Place {
    return this.#end
  }

  add(loss: SessionError): void {
    const next: Place = {}
    Object.assign(this.#end, { loss, next })
    this.#end = next
  }
}

/** The losses that the caller of a handle knows: those from before it was opened, and those that it was told. */
export class KnownLosses {
  #place: Place

  constructor({ end }: Losses) {
    this.#place = end
  }

  /** Tells the first one that the caller does not know; undefined: it knows all. */
  tell(): SessionError | undefined {
    const { loss } = this.#place
    if (loss !== undefined) this.told(loss)
    return loss
  }

  /** The caller got this error. */
  told(error: unknown): void {
    const { loss, next } = this.#place
    if (next !== undefined && loss === error) this.#place = next
  }
}
