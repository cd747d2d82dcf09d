/** The last checkpoint of each namespace that was read or put, to which the next one stores its changes. Bounded by bytes. */
import type { Checkpoint } from "@langchain/langgraph-checkpoint"
import type { Base } from "./state.ts"
import { sizeOfAll } from "./values.ts"

export interface KnownCheckpoint extends Base {
  readonly id: string
  /** The identity of its log. */
  readonly log: string
  readonly versions: Checkpoint["channel_versions"]
}

/** Characters of all values: the states of a few hundred threads. */
const HELD = 16_000_000

export class Bases {
  /** The least recently used first. */
  readonly #byPlace = new Map<string, { readonly known: KnownCheckpoint; readonly size: number }>()
  #held = 0

  get(thread: string, ns: string, id: string): KnownCheckpoint | undefined {
    const known = this.#byPlace.get(placeOf(thread, ns))?.known
    return known?.id === id ? known : undefined
  }

  set(thread: string, ns: string, known: KnownCheckpoint): void {
    const place = placeOf(thread, ns)
    this.#remove(place)
    const size = sizeOfAll(known.values)
    this.#byPlace.set(place, { known, size })
    this.#held += size
    for (const oldest of this.#byPlace.keys()) {
      if (this.#held <= HELD) return
      this.#remove(oldest)
    }
  }

  #remove(place: string): void {
    const held = this.#byPlace.get(place)
    if (held === undefined) return
    this.#held -= held.size
    this.#byPlace.delete(place)
  }
}

function placeOf(thread: string, ns: string): string {
  return `${thread}\n${ns}`
}
