/** Migrates the lines of a log of any version to version 4 in memory: reads the records, then runs the steps in order. */
import { checkOptions, type OptionNames, shown } from "../../storage/options.ts"
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import { type LogRecord, parseLine } from "../../format/line.ts"
import {
  checkIdentity,
  formatOf,
  identifyStart,
  type LogStart,
  type OlderFormat,
  readStart,
  isBlank,
} from "../../format/identify.ts"
import { type CurrentLog, type OlderLog, type RawLine, isRawLine } from "./records.ts"
import { migrateV1ToV2, migrateV2ToV3 } from "./v1-to-v3.ts"
import { migrateV3ToV4 } from "./v3-to-v4.ts"
import type { Entry } from "../../format/entry.ts"
import { isEntry } from "../../format/entry-problems.ts"
import { FORMAT, VERSION } from "../../format/header.ts"

export interface MigrateOptions {
  /** Session id of the migrated log. Default: the older one if it is a valid session id, else made from the time of the header. */
  readonly id?: string
}

const OPTIONS: OptionNames<MigrateOptions> = { id: 1 }

export interface MigratedLog extends CurrentLog {
  readonly diagnostics: readonly Diagnostic[]
  /** Format and version of the lines. */
  readonly from: { readonly format: typeof FORMAT | OlderFormat; readonly version: number }
}

/**
 * Migrates a log of any version to version 4, in memory. Drops only transient fields; a line that is not an entry is kept as a raw
 * line at its position. Deterministic: the same lines always give the same log. The `seq` of each entry is its position, and each
 * compaction and reset has its context `state`. A log of version 4 is returned unchanged, except for a given `id`.
 *
 * Throws `newer_version` for a log of a later version, and `not_a_session` for lines that are not a session log.
 */
export function migrateLines(lines: readonly string[], o: MigrateOptions = {}): MigratedLog {
  checkOptions("migrateLines", o, OPTIONS)
  const start = readStart(lines)
  const identity = identifyStart(lines, start)
  checkIdentity(identity, "The log")
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic)
  if (identity.kind === "sessions") {
    const records = readRecords(lines, start, currentProblem, report) as readonly (Entry | RawLine)[]
    const header = o.id === undefined ? identity.header : { ...identity.header, id: o.id }
    return { header, records, diagnostics, from: { format: FORMAT, version: VERSION } }
  }
  const { version } = identity
  const records = readRecords(lines, start, (record) => olderProblem(record, version > 1), report)
  const format = formatOf(
    start,
    records.filter((record): record is LogRecord => !isRawLine(record)),
  )
  const v1: OlderLog = { titleSlot: start.titleSlot, header: start.first as LogRecord, records }
  const v2 = version < 2 ? migrateV1ToV2(v1, report) : v1
  const v3 = version < 3 ? migrateV2ToV3(v2) : v2
  const v4 = migrateV3ToV4(v3, { format, version }, report, o.id)
  return { ...v4, diagnostics: diagnostics.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)), from: { format, version } }
}

/**
 * The records after the title slot and the header. `problemOf` returns why a record is not an entry of the log's version, as the
 * rest of a sentence, or undefined.
 */
function readRecords(
  lines: readonly string[],
  start: LogStart,
  problemOf: (record: LogRecord) => string | undefined,
  report: Report,
): readonly (LogRecord | RawLine)[] {
  const records: (LogRecord | RawLine)[] = []
  const keepRaw = (raw: string, code: Diagnostic["code"], problem: string): void => {
    records.push({ raw })
    report({ code, seq: records.length, message: `${problem} It is kept unchanged.` })
  }

  for (const at of start.strays) {
    keepRaw(lines[at] ?? "", "unparsable_line", "A line before the header is not a record.")
  }
  for (let at = start.next; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const { record, problem } = parseLine(line)
    if (record === undefined) {
      if (!isBlank(line)) keepRaw(line, "unparsable_line", problem)
      continue
    }
    const why = problemOf(record)
    if (why === undefined) records.push(record)
    else keepRaw(line, "invalid_record", `A record of type ${shown(record.type)} ${why}.`)
  }
  return records
}

function currentProblem(record: LogRecord): string | undefined {
  return isEntry(record) ? undefined : "lacks the id and the parent that every entry has"
}

/** Entries of version 1 have no ids and parents. Fields that later versions require may be missing, but not have a wrong type. */
function olderProblem(record: LogRecord, needsId: boolean): string | undefined {
  const { id, parentId, timestamp } = record
  if (record.type === "session") return "is a second header"
  if (id === undefined ? needsId : typeof id !== "string" || id === "") return "has no id"
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") return "has no parent's id"
  const timed = timestamp === undefined || timestamp === null || ["string", "number"].includes(typeof timestamp)
  return timed ? undefined : "has no timestamp"
}
