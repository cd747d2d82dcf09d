/** What a storage under test provides to a run: locations, clients on them, and faults. One file of this folder for each adapter. */
import type { Plan, Stored } from "../client/plan.ts"
import type { Recording } from "../recording.ts"

export interface Store {
  /** `capabilities.atomicBatch`. */
  readonly atomicBatch: "all" | "prefix"
  /** A new, empty location for one round, with faults if the store can inject any. */
  open(seed: number, faults: boolean): Promise<Place>
  close(): Promise<void>
}

export interface Place {
  /** Starts a client; `begun` is called whenever one of its calls begins. */
  start(plan: PlanOf, recording: Recording, begun: () => void): Client
  /** Kills the server without warning; resolves when it runs again. */
  readonly crash?: (() => Promise<void>) | undefined
  /** Ends the faults. Resolves when no request of a client, alive or not, can reach the store any more. */
  settle(): Promise<void>
  /** What a new client finds. */
  readStored(plan: PlanOf): Promise<Stored>
  remove(): Promise<void>
}

/** The place is the store's own. */
export type PlanOf = Omit<Plan, "place">

export interface Client {
  /** Resolves when its calls have ended, or it was killed. */
  readonly ended: Promise<void>
  kill(): void
}
