/** What is written as a whole: the lines of a session that somebody has. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/records.ts"

/** A line that follows the header. */
export interface LineToWrite {
  readonly line: string
  /** UTF-8 length, where it is known. */
  readonly bytes?: number
  /** What session information is made of. Default: the line's record. */
  readonly entry?: Entry | undefined
  /** Puts what the line refers to. Runs, and is waited for, before the line is sent; not for one that is stored already. */
  readonly before?: () => Promise<void>
}

export interface LogToWrite {
  readonly id: string
  /** Line 0. `lines` is given where the log goes in several batches: the header says how many there must be. */
  readonly header: (lines?: number) => string
  /** Puts what the header refers to, before it is sent. */
  readonly before?: () => Promise<void>
  /** What follows it, the same lines each time. They are gone through twice; the first time, to be measured, without `note`. */
  readonly lines: (note?: (diagnostic: Diagnostic) => void) => AsyncIterable<LineToWrite> | Iterable<LineToWrite>
}

/** A log that was found in a file. */
export interface ImportedLog extends LogToWrite {
  readonly from: { readonly format: string; readonly version: number }
  readonly diagnostics: readonly Diagnostic[]
}
