/** What the parts of one storage object share. */
import type { CallOptions } from "@sessions/core/storage"
import type { Bells } from "./bells.ts"
import type { Connection } from "./connection.ts"

export interface Environment {
  readonly description: string
  readonly durability: "relaxed" | "strict"
  readonly connection: Connection
  readonly bells: Bells
  /** Throws where the storage is closed or the signal has fired. */
  enter(o: CallOptions | undefined): void
  /**
   * Carries out a call: what it throws becomes an error of the storage that says where; a dispose waits for it; after the signal
   * fired only the waiting ends.
   */
  call<T>(what: Called, o: CallOptions | undefined, work: () => Promise<T>): Promise<T>
}

export interface Called {
  /** Completes "Could not …". */
  readonly doing: string
  readonly session?: string
  readonly at?: string
  /** The call writes: one that is aborted under way may have been sent. */
  readonly writes?: true
}
