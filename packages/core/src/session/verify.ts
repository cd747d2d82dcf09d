/** Reads a whole log and says everything that is to be said of it. */
import type { Diagnostic } from "../format/diagnostics.ts"

export interface VerifyReport {
  readonly id: string
  readonly lines: number
  readonly bytes: number
  readonly diagnostics: readonly Diagnostic[]
  /** Something stored is not whole: false for what only says how a log came about (`diverged`, `repaired`, `left_out`). */
  readonly damaged: boolean
}
