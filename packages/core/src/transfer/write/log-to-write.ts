/** A log that is to be written: its header, and its lines as they are found, converted or planned. */
import type { Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import type { ImportResult } from "../types.ts"

/** A line after the header. */
export interface LineToWrite {
  readonly line: string
  /** UTF-8 length without the LF. Default: counted. */
  readonly bytes?: number
  /** The entry that session information is computed from. Default: parsed from the line. */
  readonly entry?: Entry | undefined
  /**
   * Stores the blobs that the line refers to. Awaited before the line is sent, and called again if that was long ago; not called for a line
   * that is already stored.
   */
  readonly putBlobs?: () => Promise<void>
}

/** A step of an async iterator for each line would cost as much as parsing it. */
export type LineOrLines = LineToWrite | readonly LineToWrite[]

export function asLines(given: LineOrLines): readonly LineToWrite[] {
  return "line" in given ? [given] : given
}

export interface LogToWrite {
  readonly id: string
  /** Line 0. `lines` is given if the log is written in several batches: the header must then hold this expected number of lines. */
  readonly header: (lines?: number) => string
  /** Stores the blobs that the header refers to, as those of a line. */
  readonly putBlobs?: () => Promise<void>
  /**
   * The lines after the header, one or several at a time, the same at each call. Called twice: to measure the log, without `report`, and to
   * write it.
   */
  readonly lines: (report?: Report) => AsyncIterable<LineOrLines> | Iterable<LineOrLines>
  /** The lines cost much: `lines` is called once if the log fits one batch, or can be held. Both calls get `report` then. Default false. */
  readonly readOnce?: boolean
}

/** A log that was found in a file. */
export interface ImportedLog extends LogToWrite {
  readonly from: ImportResult["from"]
}
