/** What migrations work on: a log of an older version as data, and what they give back. */
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { LogRecord } from "../../format/line.ts"
import type { Entry, Header } from "../../format/records.ts"

/** A line that is no entry (not JSON, a second header, an entry without an id), kept verbatim in its place. */
export interface RawLine {
  readonly raw: string
}

export interface OlderLog {
  /** A line before the header that holds the title in force. It is no record: nothing counts it. */
  readonly titleSlot?: LogRecord
  readonly header: LogRecord
  /** What follows the header, in log order. */
  readonly records: readonly (LogRecord | RawLine)[]
}

export interface CurrentLog {
  readonly header: Header
  /** In log order; the first stands at seq 1. */
  readonly records: readonly (Entry | RawLine)[]
}

/** What a step gives: a new log, and what it could not carry over as it was. */
export interface Migrated<Log> {
  readonly log: Log
  readonly diagnostics: readonly Diagnostic[]
}

export function isRawLine(record: object): record is RawLine {
  return !("type" in record)
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/**
 * Milliseconds of a timestamp, undefined where it is none. Reads ISO 8601 and milliseconds only, and a time without a zone as
 * UTC: ids are made from it, and must be the same on every engine and in every time zone.
 */
export function timeOf(timestamp: unknown): number | undefined {
  if (typeof timestamp === "number") return Number.isFinite(timestamp) ? timestamp : undefined
  const match = typeof timestamp === "string" ? DATE_TIME.exec(timestamp) : null
  if (match === null) return undefined
  const time = Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0])
  return Number.isNaN(time) ? undefined : time
}
