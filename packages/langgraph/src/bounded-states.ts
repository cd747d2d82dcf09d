/** A map that holds the values of channels within a bound: the entries that were set first are dropped first, the last one never. */
import type { ChannelValues } from "./state.ts"
import { sizeOfAll } from "./values.ts"

/** Characters of all values: the states of a few hundred threads. */
const HELD = 16_000_000

export class BoundedStates<K, V> {
  readonly #valuesOf: (value: V) => ChannelValues
  /** In the order in which they were set. */
  readonly #held = new Map<K, { readonly value: V; readonly size: number }>()
  #size = 0

  constructor(valuesOf: (value: V) => ChannelValues) {
    this.#valuesOf = valuesOf
  }

  get(key: K): V | undefined {
    return this.#held.get(key)?.value
  }

  set(key: K, value: V): void {
    this.#remove(key)
    const size = sizeOfAll(this.#valuesOf(value))
    this.#held.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#held.keys()) {
      if (this.#size <= HELD || oldest === key) return
      this.#remove(oldest)
    }
  }

  #remove(key: K): void {
    const held = this.#held.get(key)
    if (held === undefined) return
    this.#size -= held.size
    this.#held.delete(key)
  }
}
