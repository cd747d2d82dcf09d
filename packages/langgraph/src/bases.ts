/** The last checkpoint of each namespace that was read or put, to which the next one stores its changes. */
import type { Checkpoint } from "@langchain/langgraph-checkpoint"
import { BoundedStates } from "./bounded-states.ts"
import type { Base } from "./state.ts"

export interface KnownCheckpoint extends Base {
  readonly id: string
  /** The identity of its log. */
  readonly log: string
  readonly versions: Checkpoint["channel_versions"]
}

export class Bases {
  readonly #byPlace = new BoundedStates<string, KnownCheckpoint>(({ values }) => values)

  get(thread: string, ns: string, id: string): KnownCheckpoint | undefined {
    const known = this.#byPlace.get(placeOf(thread, ns))
    return known?.id === id ? known : undefined
  }

  set(thread: string, ns: string, known: KnownCheckpoint): void {
    this.#byPlace.set(placeOf(thread, ns), known)
  }
}

function placeOf(thread: string, ns: string): string {
  return `${thread}\n${ns}`
}
