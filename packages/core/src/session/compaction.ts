/** Compaction as a session knows it. `automaticCompaction` of `@sessions/core/compaction` makes the value, so only programs that compact load the code. */
import type { CompactionSettings } from "../compaction/types.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { AppendResult, EntryOptions } from "../write/types.ts"
import type { CompactableSession } from "./live.ts"
import type { Session } from "./types.ts"

/** The settings of compaction, with its code. Made by `automaticCompaction` of `@sessions/core/compaction`. */
export interface Compaction {
  readonly settings: CompactionSettings
}

/** What a session calls. */
export interface CompactionCode extends Compaction {
  /** Compacts the session if it is due: called between turns. Rejects if the session was closed, or the signal has fired. */
  ifDue(session: Session, o: CallOptions): Promise<unknown>
}

/** Of the repository, and of the handle, which overrides it. */
export type CompactionLayers = readonly (Compaction | undefined)[]

/** What compaction needs of a handle. */
export interface SessionInside {
  readonly live: CompactableSession & {
    readonly turns: {
      readonly isInside: boolean
      run<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T>
    }
  }
  readonly compaction: CompactionLayers
  /** Whether the function of a turn got this handle. */
  readonly isOfTurn: boolean
  /** Throws `closed` if the handle is closed, and `aborted` if the signal has fired. */
  readonly checkOpen: (o?: CallOptions) => void
  /** Appends entries, of which the first one makes `id` the leaf (null: no entry). `not_found` if the log has no such entry. */
  readonly branchTo: (id: string | null, entries: () => readonly object[], o: EntryOptions) => Promise<AppendResult>
}

export function settingsOf(layers: CompactionLayers): readonly (CompactionSettings | undefined)[] {
  return layers.map((layer) => layer?.settings)
}

/** Of one of them: all have the same. `createSessions` and `open` have checked that it is there. */
export function codeOf(layers: CompactionLayers): CompactionCode | undefined {
  return layers.findLast((layer) => layer !== undefined) as CompactionCode | undefined
}
