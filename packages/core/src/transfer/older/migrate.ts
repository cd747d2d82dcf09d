import { SessionError } from "../../format/errors.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { LogRecord } from "../../format/line.ts"
import { type Entry, FORMAT, type Header, VERSION } from "../../format/records.ts"
import {
  formatOf,
  identifyStart,
  unknownVersion,
  type LogStart,
  type OlderFormat,
  type OlderVersion,
  readStart,
} from "../../format/identify.ts"
import { type CurrentLog, type OlderLog, type RawLine, isRawLine } from "./log.ts"
import { currentProblem, olderProblem, readRecords } from "./read.ts"
import { migrateV1ToV2 } from "./v1-to-v2.ts"
import { migrateV2ToV3 } from "./v2-to-v3.ts"
import { migrateV3ToV4 } from "./v3-to-v4.ts"

export interface MigrateOptions {
  /** The new log's session id. Default: the older one, where it can be one. */
  readonly id?: string
}

export interface MigratedLog extends CurrentLog {
  readonly diagnostics: readonly Diagnostic[]
  /** What the lines were. */
  readonly from: { readonly format: typeof FORMAT | OlderFormat; readonly version: number }
}

/**
 * A log of any version as one of ours, in memory. Nothing stored is lost but transient fields: what is no entry stays as a raw
 * line in its place. The same lines give the same log each time. Every entry's `seq` is its place, and compactions carry what
 * opening from the log's end needs. A log of ours comes back as it is, but for an id that was asked for.
 *
 * Throws `newer_version` for a log that this program does not know, `not_a_session` for anything that is no session log.
 */
export function migrateLines(lines: readonly string[], o: MigrateOptions = {}): MigratedLog {
  const start = readStart(lines)
  const identity = identifyStart(lines, start)
  if (identity.kind === "sessions") return currentLog(lines, start, identity.header, o.id)
  if (identity.kind === "older") return olderLog(lines, start, identity.version, o.id)
  if (identity.kind === "newer") {
    const message = `The log ${unknownVersion(identity.version)}.`
    throw new SessionError("newer_version", message)
  }
  const found = identity.kind === "empty" ? "it is empty" : identity.reason
  throw new SessionError("not_a_session", `This is not a session log: ${found}.`)
}

function currentLog(lines: readonly string[], start: LogStart, header: Header, id: string | undefined): MigratedLog {
  const { records, diagnostics } = readRecords(lines, start, currentProblem)
  return {
    header: id === undefined || id === header.id ? header : { ...header, id },
    records: records as readonly (Entry | RawLine)[],
    diagnostics,
    from: { format: FORMAT, version: VERSION },
  }
}

function olderLog(
  lines: readonly string[],
  start: LogStart,
  version: OlderVersion,
  id: string | undefined,
): MigratedLog {
  const { titleSlot, first } = start
  const read = readRecords(lines, start, (record) => olderProblem(record, version > 1))
  const format = formatOf(
    start,
    read.records.filter((record): record is LogRecord => !isRawLine(record)),
  )
  const from = { format, version }
  const v1: OlderLog = {
    ...(titleSlot === undefined ? {} : { titleSlot }),
    header: first as LogRecord,
    records: read.records,
  }
  const v2 = version < 2 ? migrateV1ToV2(v1) : { log: v1, diagnostics: [] }
  const v3 = version < 3 ? migrateV2ToV3(v2.log) : { log: v2.log, diagnostics: [] }
  const v4 = migrateV3ToV4(v3.log, from, id)
  const diagnostics = [...read.diagnostics, ...v2.diagnostics, ...v4.diagnostics]
  return { ...v4.log, diagnostics: diagnostics.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)), from }
}
