/** The data that migration steps take and return, and their timestamps. */
import type { Header } from "../../format/header.ts"
import type { Entry } from "../../format/entry.ts"
import type { LogRecord } from "../../format/line.ts"
import { EntryLog } from "../../log/entry-log.ts"

/** A line that is not an entry (not JSON, a second header, an entry without an id), kept unchanged at its position. */
export interface RawLine {
  readonly raw: string
}

export interface OlderLog {
  /** A line before the header with the current title, rewritten in place by oh-my-pi. Not counted as a record. */
  readonly titleSlot?: LogRecord | undefined
  readonly header: LogRecord
  /** The records after the header, in log order. */
  readonly records: readonly (LogRecord | RawLine)[]
}

export interface CurrentLog {
  readonly header: Header
  /** In log order; the first has seq 1. */
  readonly records: readonly (Entry | RawLine)[]
}

export function isRawLine(record: object): record is RawLine {
  return !("type" in record)
}

/** The log with these records behind its header. */
export function toEntryLog(records: readonly (Entry | RawLine)[]): EntryLog {
  return EntryLog.of([undefined, ...records.map((record) => (isRawLine(record) ? undefined : record))])
}

/** ISO 8601; the epoch for a time outside the range of `Date`. */
export function isoOf(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
