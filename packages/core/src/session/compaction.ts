/** Compaction as a session knows it. `automaticCompaction` of `@sessions/core/compaction` makes the value, so only programs that compact load the code. */
import type { CompactionSettings } from "../compaction-settings/types.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { Session } from "./types.ts"

/** The settings of compaction, with its code. Made by `automaticCompaction` of `@sessions/core/compaction`. */
export interface Compaction {
  readonly settings: CompactionSettings
}

/** The functions that a session calls. */
export interface CompactionCode extends Compaction {
  /** Compacts the session if it is due: called between turns. Rejects if the session was closed, or the signal has fired. */
  ifDue(session: Session, o: CallOptions): Promise<unknown>
}

/** The values of the repository, and of the handle, which overrides it. */
export type CompactionLayers = readonly (Compaction | undefined)[]

export function settingsOf(layers: CompactionLayers): readonly (CompactionSettings | undefined)[] {
  return layers.map((layer) => layer?.settings)
}

/** The code of one of them: all have the same. `createSessions` and `open` have checked that it is there. */
export function codeOf(layers: CompactionLayers): CompactionCode | undefined {
  return layers.findLast((layer) => layer !== undefined) as CompactionCode | undefined
}
