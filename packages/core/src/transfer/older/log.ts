/** The data that migration steps take and return, and the timestamps of older logs. */
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

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/**
 * Milliseconds since the epoch; undefined if it is not a timestamp. Accepts only ISO 8601 and milliseconds, and takes a time without
 * a zone as UTC: ids are made from it and must be the same on every engine and in every time zone.
 */
export function timeOf(timestamp: unknown): number | undefined {
  if (typeof timestamp === "number") return Number.isFinite(timestamp) ? timestamp : undefined
  const match = typeof timestamp === "string" ? DATE_TIME.exec(timestamp) : null
  if (match === null) return undefined
  const time = Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0])
  return Number.isNaN(time) ? undefined : time
}

/** ISO 8601; the epoch for a time outside the range of `Date`. */
export function isoOf(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
