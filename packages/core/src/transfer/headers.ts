/** The header of a stored log, and edits of a header that keep the rest of its line unchanged. */
import { FORMAT, type Header, type Origin, VERSION } from "../format/header.ts"
import { withFields, withValueAt } from "../format/json-edit.ts"
import { type LogRecord, parseLine } from "../format/line.ts"
import { isObject } from "../format/shape.ts"
import { settledLines } from "../log/tips.ts"
import { currentHeader, notFoundError, readLines } from "../log/load.ts"
import type { HeadInfo, HeadOptions, SessionStorage } from "../storage/contract.ts"
import type { CurrentLog } from "./older/records.ts"

export interface StoredHeader {
  readonly head: HeadInfo
  /** Line 0 of the log. */
  readonly line: string
  /** Undefined if the line is not the header of a log of this version. */
  readonly header: Header | undefined
}

/** Throws `not_found` if there is no session. */
export async function readHeader(storage: SessionStorage, id: string, o: HeadOptions): Promise<StoredHeader> {
  const head = await storage.head(id, { ...o, first: true })
  if (head === undefined) throw notFoundError(storage, id)
  const { first: line = (await readLines(storage, id, { from: 0, to: 1 }, o))[0] } = head
  // A log that had a head and has no line now was deleted between the two reads.
  if (line === undefined) throw notFoundError(storage, id)
  return { head, line, header: currentHeader(line) }
}

/** The header of the same log under another id. */
export function withId(line: string, id: string): string {
  const record = parseLine(line).record as LogRecord
  return record["id"] === id ? line : withFields(line, { id })
}

/**
 * Sets the expected number of lines, or keeps a larger one. Branches behind the old number are not taken for those of another system
 * (`origin.settled`). `id`: the id of the source, for a header without an origin.
 */
export function withOriginLines(line: string, lines: number, id: string): string {
  const record = parseLine(line).record as LogRecord & Pick<Header, "origin">
  const origin: unknown = record.origin
  if (!isObject(origin)) return withFields(line, { origin: { format: FORMAT, version: VERSION, id, lines } })
  const before = typeof origin["lines"] === "number" ? origin["lines"] : 0
  const raised = Math.max(before, lines)
  const settled = settledLines(record)
  const counted = withValueAt(line, ["origin", "lines"], raised)
  if (settledLines({ origin: { ...origin, lines: raised } }) === settled) return counted
  return withValueAt(counted, ["origin", "settled"], settled)
}

/**
 * The header of an import: its creation is that of the session in the file, so that imports of one file are one session, and those of two
 * files under one id are not.
 */
export function withCreationOf<T extends Header>(header: T): T {
  const { creation, origin } = header
  return creation !== undefined || origin?.id === undefined
    ? header
    : { ...header, creation: `${origin.format}:${origin.id}` }
}

/**
 * The migrated header with the number of lines of its log, so that an interrupted import can be recognized. Branches of these lines are
 * settled: they have no `leaf` entries.
 */
export function withLines({ header, records }: CurrentLog, more: Partial<Origin> = {}): Header {
  const lines = records.length + 1
  return { ...header, origin: { ...(header.origin as Origin), lines, settled: lines, ...more } }
}
